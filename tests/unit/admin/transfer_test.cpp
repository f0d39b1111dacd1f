#include "tools/admin/transfer.h"

#include "shared/base/random.h"
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"

namespace gleaner::admin {
namespace {

Bytes noise(std::size_t bytes) {
  Random random(7);
  Bytes text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random.next() & 0xff);
  return text;
}

io::HttpReply reply_with(int status, std::string body) {
  io::HttpReply reply;
  reply.status = status;
  reply.body = std::move(body);
  return reply;
}

// A server with one blob, which loses answers and drops connections where it is told to.
struct TransferFixture {
  TestWorld world;
  Outside outside = world.outside();
  Api api{outside.connect({}), {test_url, {}, test_token, "token"}, outside};
  Bytes stored;                       // uploaded so far, or to be downloaded
  std::int64_t bytes = -1;            // of the upload when complete
  int losses = 0;                     // answers to PATCH that get lost
  std::vector<std::int64_t> offsets;  // of PATCH and GET
  std::int64_t break_at = -1;         // downloads fail from here on

  TransferFixture() {
    world.server.handler = [this](const ScriptedServer::Call& call) { return answer(call); };
  }

  std::string state() const {
    return protocol::encode(protocol::UploadState{std::string(64, 'd'),
                                                  static_cast<std::int64_t>(stored.size()),
                                                  std::cmp_equal(stored.size(), bytes)});
  }

  std::optional<Result<io::HttpReply>> answer(const ScriptedServer::Call& call) {
    if (call.call.starts_with("GET /v1/uploads/")) return reply_with(200, state());
    if (call.call.starts_with("PATCH /v1/uploads/")) return append(call);
    if (call.call.starts_with("GET /v1/blobs/")) return range(call);
    return std::nullopt;
  }

  Result<io::HttpReply> append(const ScriptedServer::Call& call) {
    const std::int64_t offset = std::stoll(call.header("Upload-Offset"));
    offsets.push_back(offset);
    bytes = std::stoll(call.header("Upload-Length"));
    if (std::cmp_not_equal(offset, stored.size()))
      return reply_with(
          409, protocol::encode(protocol::ProblemDocument{"urn:gleaner:error:conflict", "", 409, "offset"}));
    stored += call.header("Content-Encoding") == "deflate"
                  ? io::decompress(call.request.body, transfer_piece_bytes).value()
                  : call.request.body;
    if (losses-- > 0) return Error{ErrorKind::unavailable, "connection lost"};
    return reply_with(200, state());
  }

  Result<io::HttpReply> range(const ScriptedServer::Call& call) {
    const std::string text = call.header("Range").substr(6);
    const std::int64_t first = std::stoll(text);
    const std::int64_t last = std::stoll(text.substr(text.find('-') + 1));
    offsets.push_back(first);
    if (break_at >= 0 && last >= break_at) return Error{ErrorKind::unavailable, "connection lost"};
    return reply_with(
        206, stored.substr(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)));
  }

  Status upload(const Bytes& bytes_to_send) {
    const io::Path path = world.write("upload.bin", bytes_to_send);
    const auto blob = blob_of_file(outside.files, path);
    REQUIRE(blob.ok());
    return upload_file(api, outside.files, path, *blob, [](std::int64_t, std::int64_t) {});
  }

  Result<io::Path> download(const std::string& name, Overwrite overwrite = Overwrite::no) {
    const protocol::ResultFile file{name, crypto::sha256_hex(content),
                                    static_cast<std::int64_t>(content.size()), "x"};
    return download_result(api, outside.files, file, world.directory / "results", overwrite,
                           [](std::int64_t, std::int64_t) {});
  }
  Bytes content;  // what the digest of a download says
};

}  // namespace

TEST_CASE("a blob is named by digest and size", "[transfer]") {
  TestWorld world;
  const Bytes content = noise(transfer_piece_bytes + 17);
  const auto blob = blob_of_file(io::real_files(), world.write("f", content));
  REQUIRE(blob.ok());
  CHECK(blob->digest == crypto::sha256_hex(content));
  CHECK(blob->bytes == transfer_piece_bytes + 17);
  CHECK(blob_of_file(io::real_files(), world.directory / "none").error().kind == ErrorKind::not_found);
}

TEST_CASE("uploads go in pieces and continue where the server is", "[transfer]") {
  TransferFixture f;
  const Bytes content = noise(3 * transfer_piece_bytes + 5);
  SECTION("from the beginning") {
    REQUIRE(f.upload(content).ok());
    CHECK(f.offsets == std::vector<std::int64_t>{0, transfer_piece_bytes, 2 * transfer_piece_bytes,
                                                 3 * transfer_piece_bytes});
  }
  SECTION("after an interruption") {
    f.stored = content.substr(0, 1000);
    REQUIRE(f.upload(content).ok());
    CHECK(f.offsets.front() == 1000);
  }
  SECTION("after lost answers") {
    f.losses = 3;
    REQUIRE(f.upload(content).ok());
    CHECK(f.offsets.size() == 4);  // what arrived is not sent again
  }
  CHECK((f.stored == content));
}

TEST_CASE("an empty file is uploaded too, and a complete one not again", "[transfer]") {
  TransferFixture f;
  REQUIRE(f.upload("").ok());
  CHECK(f.offsets == std::vector<std::int64_t>{0});
  REQUIRE(f.upload("").ok());
  CHECK(f.offsets.size() == 1);
}

TEST_CASE("an upload that does not get on ends", "[transfer]") {
  TransferFixture f;
  f.losses = 1000;
  f.world.server.handler = [&](const ScriptedServer::Call& call) -> std::optional<Result<io::HttpReply>> {
    if (call.call.starts_with("GET")) return reply_with(200, f.state());
    f.offsets.push_back(0);
    return Error{ErrorKind::unavailable, "connection lost"};
  };
  f.bytes = 10;
  const Status status = f.upload("0123456789");
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().kind == ErrorKind::unavailable);
  CHECK(f.offsets.size() < 20);
}

TEST_CASE("downloads resume, are checked, and leave nothing behind", "[transfer]") {
  TransferFixture f;
  f.content = f.stored = noise(2 * transfer_piece_bytes + 9);
  f.break_at = transfer_piece_bytes;  // from the second piece on
  CHECK(f.download("picture.png").error().kind == ErrorKind::unavailable);
  CHECK_FALSE(f.outside.files.exists(f.world.directory / "results/picture.png"));
  f.break_at = -1;
  f.offsets.clear();
  const auto path = f.download("picture.png");
  REQUIRE(path.ok());
  CHECK(f.offsets.front() == transfer_piece_bytes);
  CHECK((f.world.read(*path) == f.content));
  CHECK(f.outside.files.list(f.world.directory / "results").value() ==
        std::vector<std::string>{"picture.png"});
  // Once it is there, nothing is fetched.
  f.offsets.clear();
  CHECK(f.download("picture.png").ok());
  CHECK(f.offsets.empty());
}

TEST_CASE("bytes without the digest are thrown away", "[transfer]") {
  TransferFixture f;
  f.content = f.stored = noise(100);
  f.stored[50] = static_cast<char>(f.stored[50] ^ 1);
  CHECK(f.download("picture.png").error().kind == ErrorKind::untrusted);
  CHECK(f.outside.files.list(f.world.directory / "results").value().empty());
  f.stored = f.content;
  CHECK(f.download("picture.png").ok());
}

TEST_CASE("other content is only replaced when told to", "[transfer]") {
  TransferFixture f;
  f.content = f.stored = "new";
  f.world.write("results/picture.png", "old");
  const auto kept = f.download("picture.png");
  REQUIRE_FALSE(kept.ok());
  CHECK(kept.error().kind == ErrorKind::conflict);
  CHECK(f.world.read(f.world.directory / "results/picture.png") == "old");
  REQUIRE(f.download("picture.png", Overwrite::yes).ok());
  CHECK(f.world.read(f.world.directory / "results/picture.png") == "new");
}

TEST_CASE("result names never leave the directory", "[transfer]") {
  TransferFixture f;
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../x"), std::string("a/b"),
        std::string("/etc/passwd"), std::string(".bashrc"), std::string("a\nb"), std::string("a\x1b[2J"),
        std::string(300, 'x'), std::string("a\0b", 3)}) {
    const auto refused = f.download(name);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == ErrorKind::untrusted);
  }
  CHECK(f.world.server.calls().empty());
  CHECK(check_result_name("picture-1 (D).png").ok());
}

}  // namespace gleaner::admin

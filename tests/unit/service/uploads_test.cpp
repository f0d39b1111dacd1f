// Blobs come in pieces.
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

Result<protocol::UploadState> upload(World& world, const service::Uploads::Chunk& chunk) {
  return World::wait<protocol::UploadState>(
      [&](auto done) { world.service().uploads().upload(chunk, std::move(done)); });
}

}  // namespace

TEST_CASE("an upload in two pieces, one of them compressed") {
  World world;
  const Bytes bytes = "a blob that comes in two pieces";
  const std::string digest = crypto::sha256_hex(bytes);
  const auto length = static_cast<std::int64_t>(bytes.size());
  auto state = must(upload(world, {digest, 0, length, bytes.substr(0, 10), false, 1000}));
  CHECK(state.offset == 10);
  CHECK(!state.complete);
  CHECK(must(world.service().uploads().state(digest)).offset == 10);
  world.restart();
  state = must(upload(world, {digest, 10, length, io::compress(bytes.substr(10)), true, 1000}));
  CHECK(state.complete);
  CHECK(must(world.service().uploads().blobs().read(digest, 1000)) == bytes);
}

TEST_CASE("what an upload must not be") {
  World world;
  const Bytes bytes = "blob";
  const std::string digest = crypto::sha256_hex(bytes);
  const auto refused = [&](service::Uploads::Chunk chunk, ErrorKind kind, const std::string& why) {
    const auto state = upload(world, chunk);
    REQUIRE(!state.ok());
    CHECK(state.error().kind == kind);
    CHECK(says(state.error().message, why));
  };
  refused({"no digest", 0, 4, bytes, false, 1000}, ErrorKind::invalid, "SHA-256");
  refused({digest, 0, 2000, bytes, false, 1000}, ErrorKind::too_large, "1000");
  refused({digest, 0, -1, bytes, false, 1000}, ErrorKind::too_large, "limit");
  refused({digest, 0, 2, bytes, false, 1000}, ErrorKind::invalid, "beyond");
  refused({digest, 2, 4, "ob", false, 1000}, ErrorKind::conflict, "");
  CHECK(!world.service().uploads().state("nonsense").ok());
  const auto false_name = upload(world, {crypto::sha256_hex("other"), 0, 4, bytes, false, 1000});
  CHECK(false_name.error().kind == ErrorKind::untrusted);
}

TEST_CASE("a disk that is nearly full takes no uploads") {
  World world([](service::Configuration& c) { c.disk_reserve_megabytes = 1 << 20; });
  const auto state = upload(world, {crypto::sha256_hex("x"), 0, 1, "x", false, 1000});
  REQUIRE(!state.ok());
  CHECK(state.error().kind == ErrorKind::unavailable);
  CHECK(says(state.error().message, "nearly full"));
}

// A resumable upload over lines that break: what it sends altogether, and when it gives up.
#include "shared/transport/upload.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::transport {
namespace {

// A line that may break within a piece, and a server that keeps some of that.
struct Server final : io::HttpClient {
  Bytes have;
  std::int64_t sent = 0;  // bytes of bodies
  int pieces = 0;
  std::function<bool()> breaks = [] { return false; };  // during this piece
  std::size_t kept_part = 0;                            // bytes of a piece that broke off

  Result<io::HttpReply> send(const io::HttpRequest& request) override {
    std::int64_t length = 0;
    for (const auto& [name, value] : request.headers) {
      if (name == "Upload-Length") std::from_chars(value.data(), value.data() + value.size(), length);
      if (name == "Upload-Offset" && value != std::to_string(have.size()))
        return io::HttpReply{409, {}, "{}"};
    }
    if (request.method == "PATCH") {
      ++pieces;
      sent += static_cast<std::int64_t>(request.body.size());
      if (breaks()) {
        const std::size_t kept = std::min(kept_part, request.body.size());
        have += request.body.substr(0, kept);
        sent -= static_cast<std::int64_t>(request.body.size() - kept);  // never left
        return Error{ErrorKind::unavailable, "the line broke"};
      }
      have += request.body;
    }
    const bool complete = length > 0 && length == static_cast<std::int64_t>(have.size());
    return io::HttpReply{200,
                         {},
                         protocol::encode(protocol::UploadState{
                             std::string(64, 'a'), static_cast<std::int64_t>(have.size()), complete})};
  }
};

struct Through final : io::HttpClient {
  explicit Through(io::HttpClient& server) : to(server) {}
  io::HttpClient& to;
  Result<io::HttpReply> send(const io::HttpRequest& request) override { return to.send(request); }
};

Bytes noise(std::size_t bytes) {
  Random random(7);
  Bytes all;
  while (all.size() < bytes) all += static_cast<char>(random.next());
  return all;
}

struct Scene {
  Server server;
  std::atomic<bool> stopping{false};
  JobContext context{server, stopping};
  PieceSize pieces{upload_pieces};
  Bytes content = noise(1'500'000);
  Status upload() {
    return transport::upload(context, {"https://server.example", ""}, std::string(64, 'a'), content, pieces);
  }
};

TEST_CASE("An upload goes on over a line that breaks, as long as it gets on") {
  Scene scene;
  scene.server.breaks = [&] { return scene.server.pieces % 2 == 0; };
  const Status done = scene.upload();
  INFO((done.ok() ? "" : done.error().message));
  REQUIRE(done.ok());
  CHECK(scene.server.have == scene.content);
}

TEST_CASE("Over a line on which no piece comes whole, an upload ends, and no byte is sent twice") {
  Scene scene;
  scene.server.breaks = [&] { return scene.server.have.size() + 20'000 < scene.content.size(); };
  scene.server.kept_part = 7'000;
  REQUIRE(scene.upload().ok());
  CHECK(scene.server.have == scene.content);
  CHECK(scene.server.sent == static_cast<std::int64_t>(scene.content.size()));
}

TEST_CASE("An upload that does not get on is given up, and goes on later from where it was") {
  Scene scene;
  scene.server.breaks = [&] { return scene.server.pieces > 2; };
  CHECK(scene.upload().error().kind == ErrorKind::unavailable);
  CHECK(scene.server.pieces <= 4);
  const std::size_t before = scene.server.have.size();
  CHECK(before > 0);
  CHECK(scene.upload().error().kind == ErrorKind::unavailable);
  CHECK(scene.server.have.size() == before);
  scene.server.breaks = [] { return false; };
  REQUIRE(scene.upload().ok());
  CHECK(scene.server.have == scene.content);
}

TEST_CASE("An upload stops where no more may be moved, within a piece's bytes, and goes on from there") {
  Scene scene;
  const auto meter = std::make_shared<LinkMeter>();
  const std::unique_ptr<io::HttpClient> counted = metered(std::make_unique<Through>(scene.server), meter);
  TransferAllowance allowance(meter);
  JobContext context{*counted, scene.stopping};
  context.allowance = &allowance;
  const auto upload_some = [&] {
    return upload(context, {"https://server.example", ""}, std::string(64, 'a'), scene.content, scene.pieces);
  };
  allowance.allow(500'000);
  CHECK(upload_some().error().kind == ErrorKind::unavailable);
  CHECK(allowance.left() == 0);
  CHECK(scene.server.have.size() > 490'000);  // replies count, too
  CHECK(scene.server.have.size() <= 500'000);
  const int pieces = scene.server.pieces;
  allowance.allow(0);
  CHECK_FALSE(upload_some().ok());
  CHECK(scene.server.pieces == pieces);
  allowance.allow(TransferAllowance::any);
  REQUIRE(upload_some().ok());
  CHECK(scene.server.have == scene.content);
  CHECK(scene.server.sent == static_cast<std::int64_t>(scene.content.size()));
}

TEST_CASE("On a slow line a piece is small, so that what a break costs is little") {
  Scene scene;
  for (int i = 0; i < 8; ++i)  // 12 kB a second
    scene.pieces.moved(scene.pieces.next(), from_seconds(static_cast<double>(scene.pieces.next()) / 12e3));
  CHECK(scene.pieces.next() <= 64 << 10);
}

}  // namespace
}  // namespace gleaner::transport

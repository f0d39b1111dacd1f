#include "shared/transport/link_meter.h"

#include "tests/catch.h"

namespace gleaner::transport {
namespace {
using namespace std::chrono_literals;

TEST_CASE("A link is as fast as the median of the transfers that were large enough to tell") {
  LinkMeter meter;
  CHECK(meter.download() == 0);
  meter.downloaded(LinkMeter::telling_bytes - 1, 1s);
  meter.downloaded(1 << 20, 0s);
  CHECK(meter.download() == 0);
  for (const int seconds : {1, 2, 64}) meter.downloaded(1 << 20, std::chrono::seconds{seconds});
  CHECK(meter.download() == (1 << 20) / 2.0);
  CHECK(meter.upload() == 0);
  for (std::size_t i = 0; i < LinkMeter::kept; ++i) meter.downloaded(4 << 20, 1s);
  CHECK(meter.download() == 4 << 20);  // what was long ago does not count
}

TEST_CASE("What goes through a metered client counts for the way that moved more") {
  const auto meter = std::make_shared<LinkMeter>();
  struct Fixed final : io::HttpClient {
    Result<io::HttpReply> send(const io::HttpRequest& request) override {
      if (request.method == "GET") return io::HttpReply{200, {}, Bytes(1 << 20, 'x'), 2s};
      if (request.method == "PUT") return io::HttpReply{200, {}, Bytes(10, 'x'), 4s};
      return Error{ErrorKind::unavailable, "away"};
    }
  };
  const auto client = metered(std::make_unique<Fixed>(), meter);
  io::HttpRequest request;
  CHECK(client->send(request).ok());
  request.method = "PUT";
  request.body = Bytes(1 << 20, 'y');
  CHECK(client->send(request).ok());
  request.method = "POST";
  CHECK_FALSE(client->send(request).ok());
  CHECK(meter->download() == (1 << 20) / 2.0);
  CHECK(meter->upload() == (1 << 20) / 4.0);
}

TEST_CASE("What was moved counts both bodies, and of a broken download what came of it") {
  const auto meter = std::make_shared<LinkMeter>();
  struct Breaking final : io::HttpClient {
    Result<io::HttpReply> send(const io::HttpRequest& request) override {
      if (!request.take) return io::HttpReply{200, {}, Bytes(7, 'x'), 1s};
      CHECK(request.take(200, "12345").ok());
      return Error{ErrorKind::unavailable, "away"};
    }
  };
  const auto client = metered(std::make_unique<Breaking>(), meter);
  io::HttpRequest request;
  request.body = Bytes(100, 'y');
  CHECK(client->send(request).ok());
  CHECK(meter->moved() == 107);
  std::string came;
  request.take = [&came](int, std::string_view bytes) -> Status {
    came += bytes;
    return {};
  };
  CHECK_FALSE(client->send(request).ok());
  CHECK(meter->moved() == 112);
  CHECK(came == "12345");
}

}  // namespace
}  // namespace gleaner::transport

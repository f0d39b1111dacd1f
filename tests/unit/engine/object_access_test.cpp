// Addresses in an object store, from servers and stores that are honest, hostile or mistaken: what is spoken
// to, what is said there, and when the server is asked instead.
#include "client/engine/object_access.h"

#include <functional>

#include "shared/base/limits.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/engine/fake_server.h"

using namespace gleaner;
using namespace gleaner::engine;
using protocol::StatementType;
using namespace std::chrono_literals;

namespace {

class Scripted final : public io::HttpClient {
 public:
  Result<io::HttpReply> send(const io::HttpRequest& request) override {
    requests.push_back(request);
    return testing::handed_over(request, answer(request));
  }
  std::function<Result<io::HttpReply>(const io::HttpRequest&)> answer;
  std::vector<io::HttpRequest> requests;
};

const std::string content = "the bytes of a blob";

struct Scene {
  FakeClock clock;
  crypto::PrivateKey work_key = crypto::PrivateKey::generate();
  Bytes trusted = work_key.public_key();
  std::atomic<bool> stopping{false};
  Scripted server, store;
  transport::JobContext context{server, stopping, &store};
  transport::Server at{"https://server.example:8443", "secret-token"};
  ObjectAccess access{clock};
  std::string digest = crypto::sha256_hex(content);
  protocol::BlobAddress told{HostId{7}, digest, "https://objects.example/b?X-Amz-Signature=1",
                             clock.now() + 15min};
  StatementType type = StatementType::blob_address;
  io::Reach server_reach = io::Reach::world;

  Scene() {
    server.answer = [this](const io::HttpRequest&) {
      const auto statement = crypto::sign_statement(type, protocol::encode(told), work_key);
      return io::HttpReply{200, {}, protocol::encode(statement), {}, server_reach};
    };
    store.answer = [](const io::HttpRequest&) { return io::HttpReply{206, {}, content.substr(4, 5), {}}; };
  }
  std::optional<Bytes> fetch() {
    Bytes got;
    const auto done =
        access.fetch({context, at, trusted, HostId{7}}, digest, {4, 9},
                     static_cast<std::int64_t>(content.size()), [&](int, std::string_view bytes) -> Status {
                       got += bytes;
                       return {};
                     });
    return done.ok() && *done ? std::optional(got) : std::nullopt;
  }
};

}  // namespace

TEST_CASE("a blob's bytes come from the address that the server signed, which is told nothing of the host") {
  Scene scene;
  CHECK(scene.fetch() == content.substr(4, 5));
  CHECK(scene.fetch());
  REQUIRE(scene.server.requests.size() == 1);  // the address serves for a while
  CHECK(scene.server.requests[0].url == "https://server.example:8443/v1/addresses/" + scene.digest);
  REQUIRE(scene.store.requests.size() == 2);
  const auto& request = scene.store.requests[0];
  CHECK(request.url == scene.told.address);
  CHECK(request.headers == decltype(request.headers){{"Range", "bytes=4-8"}});
  CHECK(request.body.empty());
  CHECK(request.reply_bytes_max == 5);  // an answer without end is cut off
  CHECK(request.timeout <= 30s);
  CHECK(request.nearest == io::Reach::world);
  scene.clock.advance(std::chrono::seconds{limits::address_seconds / 2});
  CHECK(scene.fetch());
  CHECK(scene.server.requests.size() == 2);  // a fresh one, long before the store refuses the old one
}

TEST_CASE("an address is spoken to no nearer than the server is") {
  Scene scene;
  scene.server_reach = GENERATE(io::Reach::computer, io::Reach::network, io::Reach::world);
  CHECK(scene.fetch());
  CHECK(scene.store.requests.at(0).nearest == scene.server_reach);
}

TEST_CASE("what the work key did not sign for this host and blob is no address") {
  Scene scene;
  SECTION("another key") {
    scene.trusted = crypto::PrivateKey::generate().public_key();
  }
  SECTION("another kind of statement") {
    scene.type = StatementType::grant;
  }
  SECTION("another host's") {
    scene.told.host = HostId{8};
  }
  SECTION("another blob's") {
    scene.told.digest = crypto::sha256_hex("another");
  }
  SECTION("an old one, sent again") {
    scene.told.ends_at = scene.clock.now() - 6min;
  }
  SECTION("not signed") {
    scene.server.answer = [&](const io::HttpRequest&) {
      return io::HttpReply{200, {}, protocol::encode(scene.told), {}};
    };
  }
  SECTION("a server that knows of none") {
    scene.server.answer = [](const io::HttpRequest&) { return io::HttpReply{404, {}, "", {}}; };
  }
  CHECK(!scene.fetch());
  CHECK(scene.store.requests.empty());
}

TEST_CASE("a store that does not give what it should is left alone for a while") {
  Scene scene;
  SECTION("a redirect") {
    scene.store.answer = [](const io::HttpRequest&) {
      return io::HttpReply{302, {{"location", "https://elsewhere/"}}, "", {}};
    };
  }
  SECTION("an expired address") {
    scene.store.answer = [](const io::HttpRequest&) { return io::HttpReply{403, {}, "<Error/>", {}}; };
  }
  SECTION("all of it, where a part was asked for") {
    scene.store.answer = [](const io::HttpRequest&) { return io::HttpReply{200, {}, content, {}}; };
  }
  SECTION("a part that is too short") {
    scene.store.answer = [](const io::HttpRequest&) { return io::HttpReply{206, {}, "the", {}}; };
  }
  SECTION("nothing in time") {
    scene.store.answer = [](const io::HttpRequest&) {
      return Result<io::HttpReply>(Error{ErrorKind::unavailable, "too slow"});
    };
  }
  CHECK(!scene.fetch());
  CHECK(!scene.fetch());
  CHECK(scene.store.requests.size() == 1);
  scene.store.answer = [](const io::HttpRequest&) {
    return io::HttpReply{206, {}, content.substr(4, 5), {}};
  };
  scene.clock.advance(10min);
  CHECK(scene.fetch());
}

TEST_CASE("parts of a result are put where the server says, and nothing else") {
  Scene scene;
  protocol::PutAddresses places{HostId{7},
                                scene.digest,
                                static_cast<std::int64_t>(content.size()),
                                {{4, 5, "https://objects.example/p?partNumber=2"}},
                                scene.clock.now() + 15min};
  scene.server.answer = [&](const io::HttpRequest&) {
    const auto statement =
        crypto::sign_statement(StatementType::put_addresses, protocol::encode(places), scene.work_key);
    return io::HttpReply{200, {}, protocol::encode(statement), {}, io::Reach::world};
  };
  scene.store.answer = [](const io::HttpRequest&) { return io::HttpReply{200, {}, "", {}}; };
  const auto put = [&] {
    scene.access.put({scene.context, scene.at, scene.trusted, HostId{7}}, scene.digest, content);
  };
  SECTION("what is missing") {
    put();
    REQUIRE(scene.store.requests.size() == 1);
    const auto& request = scene.store.requests[0];
    CHECK(request.method == "PUT");
    CHECK(request.url == places.parts[0].address);
    CHECK(request.headers.empty());
    CHECK(request.body == content.substr(4, 5));
    CHECK(request.nearest == io::Reach::world);
    CHECK(protocol::decode<protocol::PutRequest>(scene.server.requests.at(0).body)->bytes == places.bytes);
  }
  SECTION("a part beyond the end") {
    places.parts[0].bytes = 100;
    put();
    CHECK(scene.store.requests.empty());
  }
  SECTION("of another length") {
    places.bytes += 1;
    put();
    CHECK(scene.store.requests.empty());
  }
  SECTION("a store that refuses is left alone") {
    scene.store.answer = [](const io::HttpRequest&) { return io::HttpReply{507, {}, "", {}}; };
    put();
    put();
    CHECK(scene.store.requests.size() == 1);
  }
}

TEST_CASE("where nobody may speak with strangers, the server is asked") {
  Scene scene;
  scene.context.objects = nullptr;
  CHECK(!scene.fetch());
  CHECK(scene.server.requests.empty());
}

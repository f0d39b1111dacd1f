// Servers that take turns on one bucket: what one that was fenced off still removes, or would, is nothing
// that the next one has referred to.
#include "server/storage/last_beat.h"
#include "server/storage/object_blobs.h"
#include "tests/unit/storage/fixture.h"
#include "tests/unit/storage/memory_objects.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

constexpr Duration day = 24h;

struct Shared {
  FakeClock clock;
  MemoryObjects store{clock};

  struct Server {
    TemporaryDirectory directory;
    bool leads = true;
    std::unique_ptr<ObjectBlobs> blobs;
  };
  std::unique_ptr<Server> start() {
    auto server = std::make_unique<Server>();
    auto bucket = std::make_unique<objects::Bucket>(
        *objects::parse_place("s3+http://127.0.0.1/b/p"), objects::Credentials{"id", "secret", "here"},
        objects::Bucket::Outside{[this] { return store.client(); }, clock,
                                 [this](Duration pause) { clock.advance(pause); },
                                 [raw = server.get()] { return raw->leads; }});
    server->blobs =
        std::make_unique<ObjectBlobs>(io::real_files(), server->directory.path(), std::move(bucket), clock,
                                      1 << 30, std::string(), ObjectBlobs::Servers::several);
    must(server->blobs->open("project"));
    return server;
  }
  [[nodiscard]] bool has(const std::string& digest) { return store.has("/b/p/blobs/" + digest); }
};

}  // namespace

TEST_CASE("a leader that is fenced off in the middle of a collection removes nothing more") {
  Shared world;
  const auto first = world.start();
  const std::string one = must(first->blobs->put("one")), two = must(first->blobs->put("two"));
  world.clock.advance(day + 1h);
  int removals = 0;
  world.store.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.method != "DELETE") return {};
    ++removals;
    first->leads = false;  // it stands still here, for as long as it takes somebody else
    return {};
  };
  CHECK(first->blobs->collect({}, world.clock.now(), day).error().kind == ErrorKind::conflict);
  CHECK(removals == 1);
  CHECK(world.has(one) != world.has(two));
  CHECK(first->blobs->health().ok());  // the store is not to blame
}

TEST_CASE("a removal that is under way from before takes nothing that the next leader refers to") {
  Shared world;
  const auto first = world.start();
  const std::string digest = must(first->blobs->put("uploaded long ago, referred to by nobody"));
  world.clock.advance(day + 1h);
  // The first server's request is on its way while it is fenced off.
  std::optional<io::HttpRequest> under_way;
  world.store.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.method != "DELETE") return {};
    under_way = request;
    return Error{ErrorKind::unavailable, "no answer"};
  };
  CHECK(!first->blobs->collect({}, world.clock.now(), day).ok());
  REQUIRE(under_way);
  world.store.before = {};
  const auto second = world.start();
  SECTION("nobody may refer to it yet, whichever way") {
    CHECK_THAT(second->blobs->upload_state(digest, "7").error().message, Contains("try again"));
    const auto again = second->blobs->put("uploaded long ago, referred to by nobody");
    CHECK(again.error().kind == ErrorKind::io);
    must(second->blobs->read(digest, 1 << 20));  // reading is no reference
    CHECK(second->blobs->upload_state(digest, "7").error().kind == ErrorKind::io);
    must(world.store.answer(*under_way));
    CHECK(must(second->blobs->put("uploaded long ago, referred to by nobody")) == digest);
    CHECK(world.has(digest));
  }
  SECTION("when it can come no more, it may") {
    world.clock.advance(objects::removal_valid + 15min);
    CHECK(must(second->blobs->upload_state(digest, "7")).complete);
    CHECK(must(second->blobs->put("uploaded long ago, referred to by nobody")) == digest);
  }
}

TEST_CASE("what is young, or of this server, is referred to at once") {
  Shared world;
  const auto first = world.start();
  const std::string young = must(first->blobs->put("stored an hour ago"));
  world.clock.advance(1h);
  const auto second = world.start();
  CHECK(must(second->blobs->upload_state(young, "7")).complete);
  CHECK(must(second->blobs->put("stored an hour ago")) == young);
  const std::string own = must(second->blobs->put("its own"));
  CHECK(must(second->blobs->upload_state(own, "7")).complete);
  // What a host uploaded and did not commit stays for a day: the next server may refer to it before.
  CHECK(!must(first->blobs->discard(young, world.clock.now() + 1s, "7")));
  CHECK(world.has(young));
}

TEST_CASE("a removal is tried once: none is under way when it has failed") {
  Shared world;
  const auto server = world.start();
  must(server->blobs->put("one"));
  world.clock.advance(day + 1h);
  int removals = 0;
  world.store.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.method != "DELETE") return {};
    ++removals;
    return io::HttpReply{503, {}, "", {}};
  };
  CHECK(server->blobs->collect({}, world.clock.now(), day).error().kind == ErrorKind::io);
  CHECK(removals == 1);
}

TEST_CASE("a beat is fresh for some seconds by both clocks") {
  FakeClock clock;
  LastBeat beat(clock);
  CHECK(!beat.fresh());
  const auto before = beat.moment();
  clock.advance(LastBeat::fresh_for - 1s);
  beat.led_after(before);
  CHECK(beat.fresh());
  clock.advance(1s);
  CHECK(!beat.fresh());
}

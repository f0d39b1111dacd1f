// A server whose blobs are in an object store: what waits for it, and that nothing is lost by it.
#include "server/storage/object_blobs.h"

#include <thread>

#include "shared/base/limits.h"
#include "tests/unit/service/world.h"
#include "tests/unit/storage/memory_objects.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::ProblemState;
using storage::testing::MemoryObjects;

namespace {

const io::HttpReply no_such_key{404, {}, "<Error><Code>NoSuchKey</Code></Error>", {}};

struct OnObjects {
  World world;
  MemoryObjects store{world.clock()};
  TestHost host;

  OnObjects() {
    world.make_blobs = [this] {
      auto bucket = std::make_unique<objects::Bucket>(
          *objects::parse_place("s3+http://127.0.0.1/b"), objects::Credentials{"id", "secret", "here"},
          objects::Bucket::Outside{[this] { return store.client(); }, world.clock(), [](Duration) {}});
      return std::make_unique<storage::ObjectBlobs>(io::real_files(), world.directory(), std::move(bucket),
                                                    world.clock(), 1 << 30);
    };
    world.restart();
    world.add_application();
    host = world.add_host();
  }
  ~OnObjects() { store.set_before({}); }

  // All requests for this object fail, or are answered so.
  void break_object(const std::string& digest, std::optional<io::HttpReply> with = {}) {
    store.set_before([digest, with](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
      if (request.url.find(digest) == std::string::npos) return {};
      if (with) return *with;
      return Error{ErrorKind::unavailable, "no route"};
    });
  }
  // A problem of two items, whose first result cannot be fetched any more when the second is accepted.
  ProblemId computed_but_the_first_is_lost(const std::optional<io::HttpReply>& answer) {
    const ProblemId id = world.add_problem(2);
    std::string first;
    for (int items = 0; items < 2;) {
      const auto grant = world.grants(host.id).front();
      for (std::int64_t item = grant.range.begin; item < grant.range.end; ++item, ++items) {
        const auto request =
            world.uploaded(World::results(grant.unit, {item, item + 1}, item + 1 == grant.range.end));
        if (items == 1) {
          std::filesystem::remove(world.service().kernel().blobs().path(first));
          break_object(first, answer);
        }
        first = request.digest;
        REQUIRE(must(world.commit(host.id, request)).status == protocol::CommitStatus::accepted);
      }
    }
    world.settle();
    return id;
  }
  void mend() {
    store.set_before({});
    world.clock().advance(std::chrono::minutes{1});
  }
};

}  // namespace

TEST_CASE("a problem whose results cannot be fetched waits, says so, and goes on with every one of them") {
  OnObjects s;
  std::optional<io::HttpReply> answer;
  SECTION("as the store is away") {}
  SECTION("as the store says that it has none") {
    answer = no_such_key;
  }
  SECTION("as the store has other bytes") {
    answer = io::HttpReply{206, {{"content-range", "bytes 0-4/5"}}, "other", {}};
  }
  const ProblemId id = s.computed_but_the_first_is_lost(answer);
  for (int i = 0; i < 30; ++i) s.world.tick();
  auto shown = s.world.show(id);
  CHECK(shown.state == ProblemState::combining);
  CHECK(shown.accepted == 2);
  CHECK(says(shown.waits, "combining failed: the object store"));
  s.mend();
  for (int i = 0; i < 400 && s.world.show(id).state != ProblemState::finished; ++i) s.world.tick();
  shown = s.world.show(id);
  CHECK(shown.state == ProblemState::finished);
  CHECK(shown.waits.empty());
}

TEST_CASE("what the store does not have for an hour is computed again") {
  OnObjects s;
  const ProblemId id = s.computed_but_the_first_is_lost(no_such_key);
  const auto until_lost = [&](Duration step, int steps) {
    for (int i = 0; i < steps && s.world.show(id).accepted == 2; ++i) {
      s.world.clock().advance(step);
      s.world.tick();
    }
    return s.world.show(id).accepted < 2;
  };
  CHECK(!until_lost(std::chrono::minutes{5}, 10));
  CHECK(until_lost(std::chrono::minutes{5}, 20));
  CHECK(s.world.show(id).state == ProblemState::running);
  s.mend();
  const auto again = s.world.grants(s.host.id).front();
  CHECK(again.range == Range{0, 1});
  s.world.finish(again);
  s.world.settle();
  CHECK(s.world.show(id).state == ProblemState::finished);
}

TEST_CASE("a result that the store cannot take is not acknowledged, and is taken when it is back") {
  OnObjects s;
  const ProblemId id = s.world.add_problem(40'000, "", "static");
  const auto grant = s.world.grants(s.host.id).front();
  // Too large for a row.
  const auto request =
      World::results(grant.unit, grant.range, true, [](std::int64_t) { return std::string(60, 'x'); });
  REQUIRE(request.bytes > limits::kept_segment_bytes_max);
  s.break_object(request.digest);
  CHECK(s.world.commit(s.host.id, request).error().kind == ErrorKind::unavailable);
  CHECK(s.world.show(id).accepted == 0);
  CHECK(!s.world.service().vitals().readiness().ok());
  s.mend();
  s.world.tick();  // asks whether it is back
  for (int i = 0; i < 1000 && !s.world.service().vitals().readiness().ok(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  CHECK(s.world.service().vitals().readiness().ok());
  CHECK(must(s.world.commit(s.host.id, request)).status == protocol::CommitStatus::accepted);
  CHECK(s.world.show(id).accepted == grant.range.size());
  CHECK(s.store.has("/b/blobs/" + request.digest));
}

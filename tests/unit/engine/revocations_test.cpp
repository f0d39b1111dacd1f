// What the root key takes back, as a client meets it: in documents, answers and on its own disk.
#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;
using protocol::RevocationList;

struct Revoking {
  World world;
  explicit Revoking(const std::string& extra = at_a_pace) {
    world.server.set_application(script_kernel(extra));
    world.server.queue_unit({0, 100'000});
    world.start();
    REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished >= 5; }));
  }
};

void revoke_application(FakeServer& server) {
  server.revoke([&](RevocationList& list) { list.applications = {{server.archive_digest, "it is broken"}}; });
}

// The client has started anew, with the identity that is on its disk.
void restart_client(World& world) {
  world.kill();
  world.start();
}

TEST_CASE("A revoked application ends with the next heartbeat, and what it finished is delivered") {
  Revoking running;
  World& world = running.world;
  revoke_application(world.server);
  const Timestamp from = world.clock.now();
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 100ms));
  CHECK(world.clock.now() - from <= 11s);  // an interval of heartbeats
  CHECK(world.engine->status().slots[0].kernel_process == 0);
  CHECK(world.server.items.size() >= 5);
  CHECK(world.has_all({0, static_cast<std::int64_t>(world.server.items.size())}));
  CHECK(world.server.failures.empty());
}

TEST_CASE("A revoked signer ends what it signed, and so does a minimum version") {
  Revoking running;
  World& world = running.world;
  const bool signer = GENERATE(false, true);
  world.server.revoke([&](RevocationList& list) {
    if (signer)
      list.keys = {{world.server.signer_key(), "it left"}};
    else
      list.minimum_versions = {{"test", "1.1", ""}};
  });
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 100ms));
  const int started = world.launcher.started;
  // The server, or who has its work key, grants it all the same.
  world.server.queue_unit({200'000, 200'010});
  REQUIRE(world.run_until([&] { return !world.server.failures.empty(); }, 100ms));
  CHECK(world.server.failures[0].kind == protocol::FailureKind::untrusted);
  CHECK(world.server.failures[0].message.find("revoked") != std::string::npos);
  CHECK(world.launcher.started == started);
}

TEST_CASE("Other applications go on under a new list") {
  Revoking running;
  World& world = running.world;
  world.server.revoke([&](RevocationList& list) {
    list.applications = {{crypto::sha256_hex("another"), ""}};
    list.minimum_versions = {{"test", "1.0", ""}, {"another", "9", ""}};
  });
  const auto asked = [&] {
    return std::count(world.server.requests.begin(), world.server.requests.end(), "GET /v1/project");
  };
  REQUIRE(world.run_until([&] { return asked() == 2; }, 100ms));
  const std::int64_t before = world.engine->status().slots[0].finished;
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > before + 5; }));
  CHECK(world.engine->status().trouble.empty());
  CHECK(asked() == 2);  // once for each list
}

TEST_CASE("A server that goes back behind a list is not believed, and results are kept until it is mended") {
  Revoking running;
  World& world = running.world;
  world.server.revoke([](RevocationList&) {});
  const auto first = world.server.revocations;
  world.server.revoke([](RevocationList&) {});
  const auto second = world.server.revocations;
  const io::Path kept = world.project / "identity" / "revocations.json";
  REQUIRE(world.run_until([&] { return std::filesystem::exists(kept); }, 100ms));
  const bool none = GENERATE(false, true);
  if (none)
    world.server.revocations.reset();
  else
    world.server.revocations = first;
  const bool restarted = GENERATE(false, true);
  if (restarted) restart_client(world);
  const auto complains = [&] {
    return world.engine->status().trouble.find("put the newest list back") != std::string::npos;
  };
  REQUIRE(world.run_until(complains, 100ms));
  const std::size_t commits = world.server.commits.size();
  const std::size_t grants = world.server.work.size();
  world.server.queue_unit({200'000, 200'010});
  world.run_for(120s, 500ms);
  CHECK(complains());
  CHECK(world.server.commits.size() == commits);
  CHECK(world.server.work.size() == grants);
  CHECK_FALSE(world.nothing_in_hand());
  world.server.revocations = second;
  REQUIRE(world.run_until([&] { return world.server.commits.size() > commits; }, 1s));
  CHECK(world.has_all({0, static_cast<std::int64_t>(world.server.items.size())}));
}

TEST_CASE("A unit on the disk that was revoked meanwhile is not gone on with") {
  Revoking running;
  World& world = running.world;
  world.kill();
  revoke_application(world.server);
  const int started = world.launcher.started;
  world.start();
  SECTION("the list comes first") {
    REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 100ms));
    CHECK(world.launcher.started == started);
  }
  SECTION("it was there already") {
    REQUIRE(world.run_until(
        [&] { return std::filesystem::exists(world.project / "identity/revocations.json"); }, 100ms));
    world.kill();
    world.start();
    REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 100ms));
    CHECK(world.launcher.started == started);
  }
}

TEST_CASE("A document signed by a revoked work key is refused, but its list is kept") {
  Revoking running;
  World& world = running.world;
  world.server.revoke([&](RevocationList& list) { list.keys = {{world.server.work_key(), "stolen"}}; });
  const auto says = [&](const char* words) {
    return world.engine->status().trouble.find(words) != std::string::npos;
  };
  REQUIRE(world.run_until([&] { return says("stolen"); }, 100ms));
  // What it granted ends at once: who has the key could have granted it.
  CHECK(world.engine->status().slots[0].kernel_process == 0);
  const std::size_t commits = world.server.commits.size();
  world.run_for(60s, 500ms);
  CHECK(world.server.commits.size() == commits);
  // Without the list it is no better.
  world.server.revocations.reset();
  world.run_for(700s, 1s);
  CHECK_FALSE(world.engine->status().trouble.empty());
  CHECK(world.server.commits.size() == commits);
}

TEST_CASE("A new work key is taken into use without a unit lost") {
  Revoking running;
  World& world = running.world;
  world.run_for(60s, 500ms);
  world.server.rotate_work_key();
  world.server.queue_unit({200'000, 200'010});
  // What was granted before goes on, and its commits are acknowledged under the new key.
  const auto asked = [&] {
    return std::count(world.server.requests.begin(), world.server.requests.end(), "GET /v1/project");
  };
  const std::size_t commits = world.server.commits.size();
  REQUIRE(world.run_until([&] { return world.server.commits.size() >= commits + 3; }, 500ms));
  CHECK(asked() == 2);
  const bool restarted = GENERATE(false, true);
  if (restarted) restart_client(world);
  // The first grant by the new key.
  world.server.orders = {{UnitId{1}, protocol::UnitAction::cancel, 0, "enough"}};
  REQUIRE(world.run_until([&] { return world.nothing_in_hand() && world.server.items.contains(200'009); },
                          100ms));
  CHECK(world.server.failures.empty());
  CHECK(world.engine->status().trouble.empty());
}

TEST_CASE("Grants by a new work key wait for the document that knows it, and are not refused") {
  World world;
  world.start();
  world.run_for(60s, 500ms);
  world.server.rotate_work_key();
  world.server.queue_unit({0, 10});
  REQUIRE(world.run_until([&] { return world.server.items.contains(9) && world.nothing_in_hand(); }, 100ms));
  CHECK(world.server.failures.empty());
  CHECK(world.server.times[0] == 1);
}

TEST_CASE("What a former work key granted ends once it is revoked") {
  Revoking running;
  World& world = running.world;
  const Bytes former = world.server.work_key();
  world.run_for(60s, 500ms);
  world.server.rotate_work_key();
  world.server.revoke([&](RevocationList& list) { list.keys = {{former, "stolen"}}; });
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 100ms));
  CHECK(world.server.failures.empty());
  CHECK(world.engine->status().trouble.empty());
  // The project itself goes on.
  world.server.queue_unit({200'000, 200'010});
  REQUIRE(world.run_until([&] { return world.server.items.contains(200'009); }, 100ms));
}

}  // namespace
}  // namespace gleaner::engine::testing

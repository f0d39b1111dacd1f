// One client of several projects, and the way there from a client of one.
#include "client/state/projects.h"

#include <algorithm>

#include "client/join/join.h"
#include "client/state/usage.h"
#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {

using namespace std::chrono_literals;

// A client of two projects, whose servers number their units alike.
struct Two {
  explicit Two(int cores = 1) : world(cores), other(world.join_neighbour()) {
    world.server.project_name = "Atlas";
    other.server.project_name = "Birds";
  }
  void queue(FakeServer& server, int units, std::int64_t items = 4) {
    for (int i = 0; i < units; ++i) server.queue_unit({i * items, (i + 1) * items});
  }
  ProjectStatus status(const Neighbour& neighbour) const {
    return status(neighbour.project.filename().string());
  }
  ProjectStatus first() const { return status(world.project.filename().string()); }
  ProjectStatus status(const std::string& key) const {
    const auto all = world.engine->status().projects;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.key == key; });
    REQUIRE(found != all.end());
    return *found;
  }
  void set(const std::string& shares_of_first, const std::string& suspended = "") {
    settings::OwnerSettings owner_settings;
    owner_settings.owner.run = client_policy::RunWhen::always;
    if (!shares_of_first.empty()) owner_settings.shares = {{"Atlas", std::stod(shares_of_first)}};
    if (!suspended.empty()) owner_settings.suspended = {suspended};
    world.engine->set_owner_settings(owner_settings);
  }

  World world;
  Neighbour& other;
};

std::optional<Result<io::HttpReply>> silence(const io::HttpRequest&) {
  return Error{ErrorKind::unavailable, "connection refused"};
}

TEST_CASE("Two projects with units, problems and bundles of the same names are kept apart") {
  Two two(2);
  two.other.server.set_application(script_kernel());
  two.queue(two.world.server, 3);
  two.queue(two.other.server, 5);
  two.world.start();
  REQUIRE(two.world.run_until([&] {
    return two.world.has_all({0, 12}) && World::has_all(two.other.server, {0, 20});
  }));
  REQUIRE(two.world.run_until([&] { return two.world.nothing_in_hand(); }));
  CHECK(two.world.server.failures.empty());
  CHECK(two.other.server.failures.empty());
  CHECK(two.first().items_total == 12);
  CHECK(two.status(two.other).items_total == 20);
  CHECK(two.world.engine->status().items_total == 32);
  CHECK(std::filesystem::exists(two.other.project / "receipts/log"));
  const std::string reason = two.world.engine->status().reason;
  CHECK(reason.find("Atlas: no work available for this computer right now") != std::string::npos);
  CHECK(reason.find("Birds: no work available for this computer right now") != std::string::npos);
}

TEST_CASE("The time that each project gets is near its share while both have work") {
  Two two(2);
  for (FakeServer* server : {&two.world.server, &two.other.server}) {
    server->set_application(script_kernel(at_a_pace));
    two.queue(*server, 400);
  }
  two.world.start();
  two.set("3");
  REQUIRE(two.world.run_until([&] { return two.first().items_total > 480; }));
  CHECK(two.first().share == 3);
  CHECK(two.first().recent_part == Approx(0.75).margin(0.06));
  CHECK(two.status(two.other).recent_part == Approx(0.25).margin(0.06));
  // It takes effect at once.
  two.set("0");
  const auto requests_for_units = [&] {
    return std::ranges::count_if(two.world.server.work,
                                 [](const auto& request) { return !request.slots.empty(); });
  };
  const auto asked = requests_for_units();
  const std::int64_t had = two.status(two.other).items_total;
  REQUIRE(two.world.run_until([&] { return two.status(two.other).items_total > had + 80; }));
  CHECK(requests_for_units() <= asked + 1);
  CHECK(two.first().units_in_hand == 0);
  CHECK(two.first().state.find("it has no share") != std::string::npos);
  // What each had is kept.
  two.world.engine->stop();
  const auto uses = state::load_usage(two.world.files, two.world.directory / "shares");
  REQUIRE(uses.size() == 2);
  const double part = two.first().recent_part;
  two.world.kill();
  two.world.start();
  CHECK(two.first().recent_part == Approx(part));
}

TEST_CASE("A server that is silent, or refuses this host, keeps no other project waiting") {
  Two two;
  two.queue(two.world.server, 40);
  two.queue(two.other.server, 40);
  two.world.start();
  REQUIRE(two.world.run_until([&] { return two.status(two.other).items_total > 8; }));
  SECTION("silent") {
    two.other.server.before = silence;
    REQUIRE(two.world.run_until([&] { return two.world.has_all({0, 160}); }));
    CHECK(two.status(two.other).state.find("connection refused") != std::string::npos);
    CHECK(two.world.engine->status().trouble.find("Birds: ") == 0);
    CHECK(two.first().revoked == false);
    two.other.server.before = nullptr;
    REQUIRE(two.world.run_until([&] { return World::has_all(two.other.server, {0, 160}); }, 200ms));
  }
  SECTION("stalled") {
    two.other.workers.stalled = true;
    REQUIRE(two.world.run_until([&] { return two.world.has_all({0, 160}); }));
    two.other.workers.stalled = false;
    REQUIRE(two.world.run_until([&] { return World::has_all(two.other.server, {0, 160}); }, 200ms));
  }
  SECTION("revoked") {
    two.other.server.before = [](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
      if (request.url.ends_with("/v1/project")) return std::nullopt;
      return problem_reply(403, "this host is served no more");
    };
    REQUIRE(two.world.run_until([&] { return two.world.has_all({0, 160}); }));
    // It may have had nothing to ask that server meanwhile.
    REQUIRE(two.world.run_until([&] { return two.status(two.other).revoked; }));
    CHECK(two.status(two.other).state.find("has removed this computer") != std::string::npos);
    CHECK_FALSE(two.world.engine->status().revoked);
    CHECK(std::filesystem::exists(two.other.project / "identity/revoked"));
    CHECK_FALSE(std::filesystem::exists(two.world.project / "identity/revoked"));
  }
}

TEST_CASE("A suspended project stands still at once, and is delivered; the slot serves the other one") {
  Two two;
  two.world.server.commit_seconds = 1;
  two.world.server.set_application(script_kernel(at_a_pace));
  two.queue(two.world.server, 1, 100);
  two.world.start();
  REQUIRE(two.world.run_until([&] { return two.first().items_total > 10; }));
  two.queue(two.other.server, 3);
  two.set("", "Atlas");
  REQUIRE(two.world.run_until([&] { return World::has_all(two.other.server, {0, 12}); }, 50ms));
  CHECK(two.first().suspended);
  CHECK(two.first().units_in_hand == 1);
  REQUIRE(two.world.run_until([&] { return two.first().outbox == 0; }, 50ms));
  const std::size_t delivered = two.world.server.items.size();
  CHECK(delivered > 10);
  two.world.run_for(60s, 200ms);
  CHECK(two.world.server.items.size() == delivered);
  CHECK_FALSE(two.world.server.heartbeats.empty());  // it is still there
  CHECK(two.world.server.heartbeats.back().units.front().reason.find("suspended") != std::string::npos);
  two.set("");
  REQUIRE(two.world.run_until([&] { return two.world.has_all({0, 100}); }));
}

TEST_CASE("A problem that its server pauses makes room for other projects") {
  Two two;
  two.world.server.commit_seconds = 1;
  two.world.server.set_application(script_kernel(at_a_pace));
  two.queue(two.world.server, 1, 300);
  two.world.start();
  REQUIRE(two.world.run_until([&] { return two.first().items_total > 5; }));
  protocol::UnitOrder order;
  order.unit = UnitId{1};
  order.action = protocol::UnitAction::pause;
  order.reason = "the administrator paused it";
  two.world.server.orders = {order};
  two.queue(two.other.server, 3);
  REQUIRE(two.world.run_until([&] { return World::has_all(two.other.server, {0, 12}); }, 500ms));
  CHECK(two.world.server.items.size() < 300);
  order.action = protocol::UnitAction::go_on;
  order.end = 300;
  two.world.server.orders = {order};
  REQUIRE(two.world.run_until([&] { return two.world.has_all({0, 300}); }, 200ms));
}

TEST_CASE("Work in hand of all projects goes on after a kill") {
  Two two(2);
  for (FakeServer* server : {&two.world.server, &two.other.server}) {
    server->set_application(script_kernel(at_a_pace));
    two.queue(*server, 2, 60);
  }
  two.world.start();
  REQUIRE(two.world.run_until(
      [&] { return two.first().units_in_hand > 0 && two.status(two.other).units_in_hand > 0; }));
  two.world.kill();
  two.world.start();
  CHECK(two.world.engine->status().units_in_hand >= 2);
  REQUIRE(two.world.run_until([&] {
    return two.world.has_all({0, 120}) && World::has_all(two.other.server, {0, 120});
  }));
}

// As a client wrote it that knew one project only.
void write_old_state(World& world) {
  FakeServerClient http(world.server);
  const state::ProjectDirectory old{world.directory};
  REQUIRE(
      joining::join({http}, world.files, world.machine, old, world.server.join_code(), {}, world.clock.now())
          .ok());
  for (const char* file : {"units/7/grant.json", "units/7/journal", "blobs/abc", "bundles/abc/kernel",
                           "problems/3-0/parameters.json", "receipts/log", "preferences"}) {
    std::filesystem::create_directories((world.directory / file).parent_path());
    REQUIRE(world.files.write(world.directory / file, file, io::Mode::secret).ok());
  }
}

void check_migrated(World& world) {
  const auto identity = state::load_identity(world.files, {world.project});
  REQUIRE(identity.ok());
  CHECK(identity->host.host == HostId{7});
  for (const char* file : {"units/7/grant.json", "units/7/journal", "blobs/abc", "receipts/log"})
    CHECK(world.files.read(world.project / file, 100).value() == file);
  for (const char* gone : {"identity", "units", "blobs", "bundles", "problems", "receipts"})
    CHECK_FALSE(std::filesystem::exists(world.directory / gone));
  CHECK(std::filesystem::exists(world.directory / "preferences"));
  const auto joined = state::joined_projects(world.files, {world.directory});
  REQUIRE(joined.ok());
  REQUIRE(joined->size() == 1);
  CHECK(joined->front().root == world.project);
}

TEST_CASE("An older state directory is changed over, whatever it is cut off by") {
  bool over = false;
  for (int failing = 0; !over; ++failing) {
    REQUIRE(failing < 50);
    World world;
    std::filesystem::remove_all(world.directory / "projects");
    write_old_state(world);
    int changes = 0;
    bool done_before = false;
    world.files.before_change = [&](std::string_view, const io::Path&) -> Status {
      if (changes++ == failing) return Error{ErrorKind::io, "the machine stopped here"};
      return {};
    };
    done_before = state::migrate_state(world.files, {world.directory}).ok();
    over = changes <= failing;  // it came to its end before
    CHECK(over == done_before);
    world.files.before_change = nullptr;
    REQUIRE(state::migrate_state(world.files, {world.directory}).ok());
    check_migrated(world);
    REQUIRE(state::migrate_state(world.files, {world.directory}).ok());
  }
}

TEST_CASE("What an older client made in between of a change that was cut off is kept") {
  World world;
  std::filesystem::remove_all(world.directory / "projects");
  write_old_state(world);
  std::filesystem::create_directories(world.project / "units/5");
  REQUIRE(state::migrate_state(world.files, {world.directory}).ok());
  check_migrated(world);
  CHECK(std::filesystem::exists(world.project / "units/5"));
}

TEST_CASE("A join code that waits to be used is found, one that cannot be read can be left") {
  World world;
  std::filesystem::remove_all(world.directory / "projects");
  const state::ProjectDirectory old{world.directory};
  std::filesystem::create_directories(old.identity());
  const bool readable = GENERATE(true, false);
  REQUIRE(world.files
              .write(old.identity() / "join-code",
                     readable ? protocol::to_text(world.server.join_code()) : "gleaner://nonsense",
                     io::Mode::secret)
              .ok());
  REQUIRE(state::migrate_state(world.files, {world.directory}).ok());
  const auto joined = state::joined_projects(world.files, {world.directory});
  REQUIRE(joined.ok());
  REQUIRE(joined->size() == 1);
  CHECK((joined->front().root == world.project) == readable);
  CHECK(joining::load_or_pending(world.files, joined->front()).ok() == readable);
  FakeServerClient http(world.server);
  REQUIRE(joining::leave(http, world.files, joined->front()).ok());
  CHECK(state::joined_projects(world.files, {world.directory})->empty());
}

TEST_CASE("What a kill left of a project that was being left is gone at the next start") {
  World world;
  std::filesystem::create_directories(world.project.string() + ".left/units/1");
  REQUIRE(world.files.write(world.project / "identity/host.json", "{}", io::Mode::secret).ok());
  CHECK(state::joined_projects(world.files, {world.directory})->size() == 1);
  REQUIRE(state::migrate_state(world.files, {world.directory}).ok());
  CHECK_FALSE(std::filesystem::exists(world.project.string() + ".left"));
  // Even if leaving is interrupted, the project has been left.
  world.files.before_change = [removals = 0](std::string_view operation, const io::Path&) mutable -> Status {
    if (operation == "remove_all" && ++removals == 2) return Error{ErrorKind::io, "the machine stopped here"};
    return {};
  };
  CHECK_FALSE(state::forget_membership(world.files, {world.project}).ok());
  CHECK(state::joined_projects(world.files, {world.directory})->empty());
}

TEST_CASE("Projects are named by people as they know them") {
  const std::vector<state::ProjectNames> all = {{"0123456789abcdef", "Atlas", "https://grid.example:8443"},
                                                {"01fedcba98765432", "Birds", "https://10.0.0.1:8443"},
                                                {"aaaaaaaaaaaaaaaa", "Atlas", "https://grid.example:9443"}};
  CHECK(state::find_project(all, "Birds").value() == 1);
  CHECK(state::find_project(all, "01fe").value() == 1);
  CHECK(state::find_project(all, "10.0.0.1").value() == 1);
  CHECK(state::find_project(all, "grid.example:9443").value() == 2);
  CHECK(state::find_project(all, "https://grid.example:8443").value() == 0);
  CHECK(state::find_project(all, "aaaaaaaaaaaaaaaa").value() == 2);
  for (const char* several : {"Atlas", "grid.example"})
    CHECK(state::find_project(all, several).error().kind == ErrorKind::conflict);
  for (const char* nobody : {"", "01", "Cats", "8443"})
    CHECK(state::find_project(all, nobody).error().kind == ErrorKind::not_found);
}

TEST_CASE("What each project had is read back, and nonsense is nothing") {
  World world;
  const io::Path path = world.directory / "shares";
  CHECK(state::load_usage(world.files, path).empty());
  REQUIRE(state::save_usage(world.files, path, {{"a", {1.5, 2, false}}, {"b", {0, 0, true}}}).ok());
  const auto uses = state::load_usage(world.files, path);
  REQUIRE(uses.size() == 2);
  CHECK(uses.at("a").virtual_time == 1.5);
  CHECK(uses.at("a").recent == 2);
  CHECK_FALSE(uses.at("a").contends);
  for (const char* text : {"", "[]", R"({"a":1})", R"({"a":{"virtual_time":-1,"recent":"x"}})", "{"}) {
    REQUIRE(world.files.write(path, text, io::Mode::secret).ok());
    for (const auto& [key, use] : state::load_usage(world.files, path))
      CHECK((use.virtual_time == 0 && use.recent == 0));
  }
}

}  // namespace
}  // namespace gleaner::engine::testing

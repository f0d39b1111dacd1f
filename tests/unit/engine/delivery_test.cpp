#include <algorithm>

#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;

TEST_CASE("A result stays until its own acknowledgement verifies") {
  World world;
  world.server.queue_unit({0, 8});
  const std::string how = GENERATE("forged", "another digest", "another host", "silence");
  INFO(how);
  int given = 0;
  FakeServer stranger;
  world.server.on_acknowledgement =
      [&](const protocol::SignedStatement& good) -> std::optional<protocol::SignedStatement> {
    if (++given > 3) return good;
    protocol::SignedStatement bad = good;
    if (how == "silence") return std::nullopt;
    if (how == "forged") bad.signature[3] ^= 1;
    if (how == "another digest" || how == "another host") {
      // Rightly signed, but not about this result: signed over something the test server never says.
      auto acknowledgement = protocol::decode<protocol::Acknowledgement>(good.payload).value();
      if (how == "another digest") acknowledgement.digest = std::string(64, 'a');
      if (how == "another host") acknowledgement.host = HostId{99};
      bad.payload = protocol::encode(acknowledgement);
    }
    return bad;
  };
  world.start();
  REQUIRE(world.run_until([&] { return given >= 3; }, 100ms));
  CHECK_FALSE(world.nothing_in_hand());
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 200ms));
  CHECK(world.has_all({0, 8}));
}

TEST_CASE("A signed refusal lets the result go; an unsigned one does not") {
  World world;
  world.server.queue_unit({0, 8});
  SECTION("signed") {
    world.server.refuse_all = true;
    world.start();
    REQUIRE(world.run_until([&] { return !world.server.commits.empty() && world.nothing_in_hand(); }));
    CHECK(world.engine->status().commits_refused == 1);
    CHECK(!world.engine->status().last_refusal.empty());
    // A server that was restored from a backup knows a unit by its grant alone, which came once more.
    CHECK(world.server.commits.size() == 2);
    CHECK(world.server.commits.back().given.has_value());
    CHECK(world.server.items.empty());
  }
  SECTION("signed, of a unit that is still computed") {
    world.server.set_application(script_kernel(at_a_pace));
    world.server.commit_seconds = 1;
    world.server.queue_unit({8, 100'008});
    world.start();
    REQUIRE(world.run_until([&] { return world.server.items.count(20) == 1; }));
    world.server.refuse_all = true;
    REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }));
    CHECK(world.engine->status().commits_refused == 1);
    world.server.refuse_all = false;
    world.server.queue_unit({100'008, 100'016});
    REQUIRE(world.run_until([&] { return world.has_all({100'008, 100'016}); }));
  }
  SECTION("unsigned") {
    bool refuse = true;
    const int status = GENERATE(400, 404, 410);
    world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
      const bool with_commit = request.body.find("\"digest\"") != std::string::npos;
      if (refuse && with_commit) return problem_reply(status, "I do not like it");
      return std::nullopt;
    };
    world.start();
    REQUIRE(world.run_until([&] { return world.engine->status().outbox == 1; }));
    world.run_for(30s, 200ms);
    CHECK(world.engine->status().outbox == 1);
    refuse = false;
    REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 500ms));
    CHECK(world.has_all({0, 8}));
  }
}

TEST_CASE("Prefixes are committed as time goes by, each once") {
  World world;
  world.server.commit_seconds = 2;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 100});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 100}) && world.nothing_in_hand(); }, 50ms));
  CHECK(world.server.commits.size() >= 3);
  for (const auto& commit : world.server.commits) CHECK(commit.last == (commit.range.end == 100));
  // A server takes back what is not listed.
  for (const auto& request : world.server.work)
    for (const auto& commit : request.commits)
      CHECK(std::ranges::count(request.units, commit.unit, &protocol::UnitReport::unit) == 1);
}

TEST_CASE("Large segments are uploaded in pieces that compress, and resume where the server is") {
  World world;
  // 20 items of 40,000 random-looking bytes: does not compress to the inline limit.
  world.server.set_application(R"(#!/bin/sh
while read -r command a b c; do
  case $command in
    gleaner) echo "ready 1" ;;
    problem) echo ok ;;
    unit) i=$b
      while [ "$i" -lt "$c" ]; do
        printf 'item %s 40000\n' "$i"; head -c 40000 /dev/urandom; i=$((i + 1))
      done
      echo "done $c" ;;
    quit) exit 0 ;;
  esac
done
)");
  world.server.queue_unit({0, 60});
  int failures = 2;
  world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.method != "PATCH" || world.server.uploads.empty()) return std::nullopt;
    const bool second = !world.server.uploads.begin()->second.empty();
    if (second && failures-- > 0) return Error{ErrorKind::unavailable, "connection reset"};
    return std::nullopt;
  };
  world.start();
  REQUIRE(world.run_until([&] { return world.server.items.size() == 60 && world.nothing_in_hand(); }, 100ms));
  CHECK(failures < 0);
  // Each byte went over once in the end: offsets were taken up again, not begun anew. Pieces grow with what
  // the line shows.
  CHECK(std::count_if(world.server.requests.begin(), world.server.requests.end(),
                      [](const std::string& request) { return request.starts_with("PATCH"); }) <= 12 + 2);
}

TEST_CASE("An upload that ends with the server's last moment goes on where the server is") {
  World world;
  world.server.set_application(R"(#!/bin/sh
while read -r command a b c; do
  case $command in
    gleaner) echo "ready 1" ;;
    problem) echo ok ;;
    unit) printf 'item %s 400000\n' "$b"; head -c 400000 /dev/urandom; echo "done $c" ;;
    quit) exit 0 ;;
  esac
done
)");
  world.server.queue_unit({0, 1});
  bool killed = false;
  std::vector<std::size_t> after;  // sizes of pieces
  world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.method != "PATCH") return std::nullopt;
    if (killed) after.push_back(request.body.size());
    Bytes& have = world.server.uploads.begin()->second;
    const auto length = std::find_if(request.headers.begin(), request.headers.end(),
                                     [](const auto& header) { return header.first == "Upload-Length"; });
    if (killed || std::to_string(have.size() + request.body.size()) != length->second) return std::nullopt;
    // All of it is on the server's disk, and nobody has looked at it.
    killed = true;
    have += request.body;
    return Error{ErrorKind::unavailable, "connection reset"};
  };
  world.start();
  REQUIRE(world.run_until([&] { return world.server.items.size() == 1 && world.nothing_in_hand(); }, 100ms));
  CHECK(after == std::vector<std::size_t>{0});
}

TEST_CASE("A full disk holds kernels, keeps what is there, says so, and goes on later") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.commit_seconds = 1;
  world.server.queue_unit({0, 80});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 5; }));
  world.files.before_change = [](std::string_view operation, const io::Path&) -> Status {
    if (operation == "remove" || operation == "remove_all") return {};
    return Error{ErrorKind::io, "No space left on device: free some space"};
  };
  REQUIRE(world.run_until([&] { return world.engine->status().mode == "pause"; }));
  CHECK(world.engine->status().reason.find("No space left") != std::string::npos);
  CHECK(world.gate.paused.size() == 1);
  world.files.before_change = nullptr;
  REQUIRE(world.run_until([&] { return world.has_all({0, 80}) && world.nothing_in_hand(); }, 100ms));
}

TEST_CASE(
    "A unit that the disk does not take goes back, and no other is taken until the disk takes something") {
  World world;
  bool full = true;
  world.files.before_change = [&](std::string_view operation, const io::Path& path) -> Status {
    const bool matters = path.string().find("/units/") != std::string::npos || path.filename() == "probe";
    const bool grows = operation != "remove" && operation != "remove_all" && operation != "make_directories";
    if (!full || !matters || !grows) return {};
    return Error{ErrorKind::io, "No space left on device: free some space"};
  };
  world.server.queue_unit({0, 5});
  world.start();
  // A server takes back what is not listed.
  REQUIRE(world.run_until([&] { return world.server.work.size() == 2; }, 100ms));
  CHECK(world.server.work.back().slots.empty());
  CHECK(world.server.work.back().units.empty());
  CHECK_FALSE(std::filesystem::exists(world.project / "units/1"));
  world.server.queue_unit({0, 5});
  world.run_for(60s, 500ms);
  CHECK(world.server.work.size() == 2);
  CHECK(world.engine->status().mode == "pause");
  CHECK(world.engine->status().reason.find("No space left") != std::string::npos);
  full = false;
  REQUIRE(world.run_until([&] { return world.has_all({0, 5}) && world.nothing_in_hand(); }, 100ms));
  CHECK(world.server.failures.empty());
}

TEST_CASE("A unit that the disk did not take goes back though the server is away for a while") {
  World world;
  bool full = true;
  world.files.before_change = [&](std::string_view operation, const io::Path& path) -> Status {
    if (full && operation == "write" && path.filename() == "grant.json")
      return Error{ErrorKind::io, "No space left on device: free some space"};
    return {};
  };
  world.server.queue_unit({0, 5});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().mode == "pause"; }, 20ms));
  const std::size_t asked = world.server.work.size();
  int lost = 2;
  world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (!request.url.ends_with("/v1/work") || lost == 0) return std::nullopt;
    --lost;
    return Error{ErrorKind::unavailable, "connection reset"};
  };
  world.run_for(5s, 100ms);
  CHECK(lost == 0);
  REQUIRE(world.server.work.size() > asked);
  CHECK(world.server.work[asked].slots.empty());
  full = false;
  world.server.queue_unit({0, 5});
  REQUIRE(world.run_until([&] { return world.has_all({0, 5}) && world.nothing_in_hand(); }, 100ms));
  CHECK(world.server.failures.empty());
}

TEST_CASE("A disk with little room takes no new work") {
  World world;
  world.settings.free_bytes_min = std::int64_t{1} << 60;
  world.server.queue_unit({0, 5});
  world.start();
  world.run_for(10s, 200ms);
  CHECK(world.server.work.empty());
  CHECK(world.engine->status().reason.find("the preference disk_free_megabytes leaves") != std::string::npos);
}

// What a kill leaves is the journal up to some byte. From each such state the client must end with every item
// accepted exactly once.
TEST_CASE("After a kill at any position of the journal, nothing is lost and nothing counted twice") {
  const bool committed = GENERATE(false, true);
  World world;
  world.server.queue_unit({0, 6});
  world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.body.find("\"digest\"") == std::string::npos) return std::nullopt;
    if (committed) {
      const auto asked = protocol::decode<protocol::WorkRequest>(request.body);
      for (const auto& commit : asked->commits) (void)world.server.acknowledge(commit);
    }
    return Error{ErrorKind::unavailable, "the answer is lost"};
  };
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().outbox == 1; }));
  world.run_for(5s);
  world.kill();
  const io::Path journal = world.project / "units/1/journal";
  const Bytes whole = io::real_files().read(journal, 1 << 20).value();
  const Bytes grant = io::real_files().read(world.project / "units/1/grant.json", 1 << 20).value();
  const auto items = world.server.items;
  const auto times = world.server.times;
  world.server.before = nullptr;
  for (std::size_t length = 0; length <= whole.size(); length += length + 12 > whole.size() ? 1 : 7) {
    INFO("journal cut to " << length << " of " << whole.size() << ", committed " << committed);
    // A cut that was made before the server could have heard of it is always whole: it is synced before it is
    // sent.
    if (committed && length < whole.size()) continue;
    std::filesystem::create_directories(journal.parent_path());
    REQUIRE(io::real_files().write(journal.parent_path() / "grant.json", grant, io::Mode::secret).ok());
    REQUIRE(
        io::real_files().write(journal, std::string_view(whole).substr(0, length), io::Mode::secret).ok());
    if (!committed) {
      world.server.items.clear();
      world.server.times.clear();
      world.server.forget();
    }
    world.start();
    REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 50ms));
    CHECK(world.has_all({0, 6}));
    world.kill();
  }
}

}  // namespace
}  // namespace gleaner::engine::testing

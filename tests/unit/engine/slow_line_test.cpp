// Lines that break again and again: what came is kept, and a unit is not given up while it comes.
#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;

Bytes noise(std::size_t bytes) {
  Random random(11);
  Bytes all;
  while (all.size() < bytes) all += static_cast<char>(random.next());
  return all;
}

struct BreakingLine {
  World world;
  std::size_t requests = 0;
  BreakingLine() {
    const Bytes input = noise(1'000'000);
    const std::string digest = crypto::sha256_hex(input);
    world.server.blobs[digest] = input;
    world.server.inputs = {{"data", digest, static_cast<std::int64_t>(input.size()), {}}};
    world.server.before = [this,
                           digest](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
      if (!request.url.ends_with(digest)) return std::nullopt;
      ++requests;
      if (gone) return Error{ErrorKind::unavailable, "no connection"};
      return std::nullopt;
    };
    world.server.queue_unit({0, 4});
  }
  bool gone = false;
};

TEST_CASE("A line that breaks every 20,000 bytes brings a file of a million all the same, each byte once") {
  BreakingLine line;
  line.world.server.breaks_after = 20'000;
  line.world.start();
  REQUIRE(line.world.run_until([&] { return line.world.has_all({0, 4}); }, 200ms));
  CHECK(line.world.server.failures.empty());
  CHECK(line.requests <= 70);  // pieces of 16 KiB at the least; what came of one that broke was kept
}

TEST_CASE("What came before the client was killed is not asked for again") {
  BreakingLine line;
  line.world.server.breaks_after = 100'000;
  line.world.start();
  line.world.server.before = [&, before = line.world.server.before](const io::HttpRequest& request) {
    if (line.requests == 6) line.gone = true;
    return before(request);
  };
  REQUIRE(line.world.run_until([&] { return line.gone; }, 200ms));
  line.world.kill();
  line.world.server.before = nullptr;
  line.world.server.breaks_after = INT64_MAX;
  line.world.server.requests.clear();
  std::vector<std::string> ranges;
  line.world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    for (const auto& [name, value] : request.headers)
      if (name == "Range") ranges.push_back(value);
    return std::nullopt;
  };
  line.world.start();
  REQUIRE(line.world.run_until([&] { return line.world.has_all({0, 4}); }, 200ms));
  REQUIRE(ranges.size() >= 2);  // the application, whose copy on disk is looked at again, comes from there
  CHECK(std::ranges::none_of(
      ranges, [](const std::string& range) { return range.starts_with("bytes=0-") && range.size() > 14; }));
}

TEST_CASE("A unit is not given up while its files come, however often the line breaks") {
  BreakingLine line;
  line.world.server.breaks_after = 5'000;
  int number = 0;
  line.world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    // Each second connection is not made at all.
    if (request.url.find("/v1/blobs/") != std::string::npos && ++number % 2 == 0)
      return Error{ErrorKind::unavailable, "no connection"};
    return std::nullopt;
  };
  line.world.start();
  REQUIRE(line.world.run_until([&] { return line.world.has_all({0, 4}); }, 1s));
  CHECK(line.world.server.failures.empty());
}

TEST_CASE("Where a file is fetched that the line does not bring now, the sentence says how far it is") {
  BreakingLine line;
  line.world.server.breaks_after = 250'000;
  std::string seen;
  line.world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.url.find("/v1/blobs/") != std::string::npos && line.requests++ == 3)
      seen = line.world.engine->status().reason;  // as from another thread
    return std::nullopt;
  };
  line.world.start();
  REQUIRE(line.world.run_until([&] { return line.world.has_all({0, 4}); }, 200ms));
  INFO(seen);
  CHECK(seen.starts_with("not computing yet: fetching what words needs: "));
  CHECK(seen.find(" % of 976.6 KiB") != std::string::npos);
}

TEST_CASE("A day's volume stops a file that comes; what came is kept, and that was no failure") {
  constexpr std::int64_t volume = 60'000, control = 40'000;  // what is said beside files, altogether
  BreakingLine line;
  World& world = line.world;
  world.workers.measure(world.link);
  world.start();
  settings::OwnerSettings owner_settings;
  const std::int64_t before = world.link->moved();
  int times = 0;
  const auto let = [&] {  // twelve times more is bought
    owner_settings.traffic.day_bytes = ++times * volume;
    world.engine->set_owner_settings(owner_settings);
  };
  let();
  for (int bought = 0; bought < 12; ++bought) {
    world.run_for(30s);
    INFO(bought << ": " << world.link->moved() - before);
    CHECK(world.link->moved() - before >= times * volume);
    CHECK(world.link->moved() - before < times * volume + control);
    CHECK(world.engine->status().reason.find("traffic of") != std::string::npos);
    let();
  }
  owner_settings.traffic.day_bytes = 0;
  world.engine->set_owner_settings(owner_settings);
  REQUIRE(world.run_until([&] { return world.has_all({0, 4}); }, 200ms));
  CHECK(world.server.failures.empty());
  CHECK(world.link->moved() - before < 1'000'000 + 100'000);  // each byte once
}

TEST_CASE("On a slow line few results go with a request, and all of them go") {
  World world(4);
  world.link->uploaded(1 << 20, 130s);  // 8 kB a second
  world.server.set_application(R"(#!/bin/sh
while read -r command a b c; do
  case $command in
    gleaner) echo "ready 1" ;;
    problem) echo ok ;;
    unit) i=$b
      while [ "$i" -lt "$c" ]; do
        printf 'item %s 50000\n' "$i"; head -c 50000 /dev/urandom; i=$((i + 1))
      done
      echo "done $c" ;;
    quit) exit 0 ;;
  esac
done
)");
  for (int i = 0; i < 8; ++i) world.server.queue_unit({i, i + 1});
  world.start();
  REQUIRE(
      world.run_until([&] { return world.server.commits.size() >= 8 && world.nothing_in_hand(); }, 200ms));
  for (const auto& request : world.server.work) {
    std::size_t bytes = 0;
    for (const auto& commit : request.commits) bytes += commit.data ? commit.data->size() : 0;
    CHECK(bytes <= 100'000);
  }
}

}  // namespace
}  // namespace gleaner::engine::testing

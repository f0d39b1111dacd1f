// Two programs with one identity, and all that looks like it and is none.
#include "server/policy/instances.h"

#include <map>
#include <string>
#include <vector>

#include "shared/base/limits.h"
#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;
using namespace std::chrono_literals;

namespace {

constexpr Timestamp start{std::chrono::hours{1000}};

// A program's run: what it has in memory.
struct Program {
  std::int64_t id = 0, sequence = 0;
  bool parted = false;
  void restart(std::int64_t& ids) {
    id = ++ids;
    sequence = 0;
  }
};

struct Server {
  Instances instances;
  Timestamp now = start;
  std::int64_t ids = 0;

  Program program() {
    Program made;
    made.restart(ids);
    return made;
  }
  Heard hear(Program& program, Duration later = 1min) {
    now += later;
    const Heard heard = instances.hear(program.id, ++program.sequence, now);
    if (heard == Heard::again) program.restart(ids);
    if (heard == Heard::copy) program.parted = true;
    return heard;
  }
};

}  // namespace

TEST_CASE("Of two that use one identity the later one parts within three rounds, and the other goes on",
          "[instances]") {
  Server server;
  Program first = server.program();
  for (int i = 0; i < 5; ++i) CHECK(server.hear(first) == Heard::well);
  Program second = server.program();
  int rounds = 0;
  while (!first.parted && !second.parted && rounds < 10) {
    ++rounds;
    static_cast<void>(server.hear(second, 1s));
    static_cast<void>(server.hear(first, 59s));
  }
  CHECK(rounds <= 3);
  CHECK(second.parted);
  CHECK(server.instances.copied_at());
  // It is told each time that it speaks, which disturbs the other one no more.
  for (int i = 0; i < 5; ++i) {
    CHECK(server.hear(first) == Heard::well);
    CHECK(server.hear(second) == Heard::copy);
  }
}

TEST_CASE("Of many all but one part", "[instances]") {
  for (const int count : {2, 3, 5, 50}) {
    Server server;
    std::vector<Program> programs;
    for (int i = 0; i < count; ++i) programs.push_back(server.program());
    Random random(static_cast<std::uint64_t>(count));
    for (int spoken = 0; spoken < 20 * count; ++spoken) {
      Program& one = programs[random.below(programs.size())];
      if (!one.parted) static_cast<void>(server.hear(one, 1s));
    }
    std::size_t left = 0;
    for (const Program& one : programs) left += one.parted ? 0 : 1;
    INFO(count);
    CHECK(left == 1);
  }
}

TEST_CASE("Crashes, lost replies and directories that are put back are no copies", "[instances]") {
  Server server;
  Random random(7);
  Program program = server.program();
  for (int i = 0; i < 2000; ++i) {
    switch (random.below(4)) {
      case 0:
        program.restart(server.ids);  // killed, or its directory was put back: it starts anew
        break;
      case 1:
        program.sequence += 3;  // requests or replies were lost
        break;
      case 2:
        server.instances = {};  // the server started anew
        break;
      default:
        break;
    }
    REQUIRE(server.hear(program, from_seconds(random.uniform() * 100)) == Heard::well);
  }
  CHECK_FALSE(server.instances.copied_at());
}

TEST_CASE("Memory that is put back is no copy, however often", "[instances]") {
  Server server;
  Program program = server.program();
  for (int i = 0; i < 50; ++i) static_cast<void>(server.hear(program));
  const Program snapshot = program;
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < 10; ++j) CHECK(server.hear(program) != Heard::copy);
    program = snapshot;
    if (i % 3 == 0) program.restart(server.ids);
  }
  CHECK_FALSE(server.instances.copied_at());
}

TEST_CASE("A machine that is copied while it runs is found, too", "[instances]") {
  Server server;
  Program first = server.program();
  for (int i = 0; i < 50; ++i) static_cast<void>(server.hear(first));
  Program second = first;
  for (int i = 0; i < 6; ++i) {
    if (!first.parted) static_cast<void>(server.hear(first));
    if (!second.parted) static_cast<void>(server.hear(second));
  }
  CHECK(first.parted != second.parted);
}

TEST_CASE("A request that the next start overtook is no copy", "[instances]") {
  Server server;
  Program program = server.program();
  for (int i = 0; i < 100; ++i) {
    static_cast<void>(server.hear(program));
    Program before = program;
    program.restart(server.ids);
    CHECK(server.hear(program) == Heard::well);
    CHECK(server.hear(before) == Heard::returned);  // sent before the kill, decided after the start
    CHECK(server.hear(program) == Heard::returned);
    CHECK(server.hear(program) == Heard::well);
  }
  CHECK_FALSE(server.instances.copied_at());
}

TEST_CASE("What is remembered of a host is bounded, and a night is not forgotten", "[instances]") {
  Server server;
  Program first = server.program();
  static_cast<void>(server.hear(first));
  for (std::size_t i = 0; i < 10 * limits::instances_per_host_max; ++i) {
    Program other = server.program();
    static_cast<void>(server.hear(other, 1s));
  }
  Server nights;
  Program day = nights.program(), night = nights.program();
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(nights.hear(day, 12h));
    static_cast<void>(nights.hear(night, 12h));
  }
  CHECK((day.parted || night.parted));
}

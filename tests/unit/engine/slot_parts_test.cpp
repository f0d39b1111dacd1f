// The parts of a slot alone: what is saved of items in progress, and what computing takes.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "client/engine/checkpoints.h"
#include "client/engine/computing_time.h"
#include "client/engine/talk.h"
#include "shared/base/limits.h"
#include "shared/io/compression.h"
#include "tests/catch.h"
#include "tests/unit/engine/fake_server.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;

// A unit in hand, and the directory of a slot whose kernel is the test.
struct Bench {
  io::Path root;
  FakeServer server;
  std::unique_ptr<Unit> unit;
  std::optional<Checkpoints> checkpoints;

  explicit Bench(const std::optional<protocol::BegunItem>& begun = std::nullopt) {
    static int count = 0;
    root = std::filesystem::temp_directory_path() /
           ("gleaner-parts-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    std::filesystem::remove_all(root);
    std::filesystem::create_directories(root / "slot");
    server.set_application(script_kernel());
    protocol::Grant grant = server.make_grant({0, 10});
    grant.begun = begun;
    auto held = HeldUnit::create(io::real_files(), root / "1", {server.sign_grant(grant)}, grant);
    REQUIRE(held.ok());
    unit = std::make_unique<Unit>(std::move(held).value());
    unit->prepared.emplace().manifest.checkpoint = true;
    checkpoints.emplace(io::real_files(), root / "slot");
  }
  ~Bench() { std::filesystem::remove_all(root); }

  void kernel_writes(const Bytes& text) const {
    REQUIRE(io::real_files().write(root / "slot" / "checkpoint", text, io::Mode::normal).ok());
  }
  [[nodiscard]] Bytes kernel_finds() const {
    const auto text = io::real_files().read(root / "slot" / "checkpoint", 100);
    return text.ok() ? *text : Bytes();
  }
  [[nodiscard]] int kept() const {
    int files = 0;
    for (const auto& file : std::filesystem::directory_iterator(root / "1"))
      files += file.path().filename().string().starts_with("checkpoint") ? 1 : 0;
    return files;
  }
};

TEST_CASE("The latest checkpoint of a unit is kept, and laid out for its next kernel") {
  Bench bench;
  CHECK_FALSE(bench.checkpoints->find(*bench.unit).any());
  bench.checkpoints->start(SteadyTime{});
  for (const char* text : {"first", "second"}) {
    bench.kernel_writes(text);
    REQUIRE(bench.checkpoints->keep(*bench.unit, bench.root / "slot").ok());
    CHECK(bench.kernel_finds().empty());  // it is the unit's now
  }
  CHECK(bench.kept() == 2);  // one, and its digest
  const Checkpoint found = bench.checkpoints->find(*bench.unit);
  CHECK(found.where == Checkpoint::Where::here);
  REQUIRE(bench.checkpoints->lay_out(*bench.unit, found).ok());
  CHECK(bench.kernel_finds() == "second");
}

TEST_CASE("A checkpoint of an item that is done goes with the next one") {
  Bench bench;
  bench.checkpoints->start(SteadyTime{});
  bench.kernel_writes("of item 0");
  REQUIRE(bench.checkpoints->keep(*bench.unit, bench.root / "slot").ok());
  bench.unit->held->add_item(0, "item-0");
  CHECK_FALSE(bench.checkpoints->find(*bench.unit).any());
  bench.kernel_writes("of item 1");
  REQUIRE(bench.checkpoints->keep(*bench.unit, bench.root / "slot").ok());
  CHECK(bench.kept() == 2);
  CHECK(bench.checkpoints->find(*bench.unit).where == Checkpoint::Where::here);
}

TEST_CASE("A checkpoint that is not as it was written does not count") {
  Bench bench;
  bench.checkpoints->start(SteadyTime{});
  bench.kernel_writes("whole");
  REQUIRE(bench.checkpoints->keep(*bench.unit, bench.root / "slot").ok());
  const io::Path path = Checkpoints::path_of(*bench.unit);
  SECTION("other bytes") {
    REQUIRE(io::real_files().write(path, "whale", io::Mode::normal).ok());
  }
  SECTION("no digest") {
    std::filesystem::remove(io::Path(path) += ".sha256");
  }
  CHECK_FALSE(bench.checkpoints->find(*bench.unit).any());
}

TEST_CASE("Only a file can be a checkpoint") {
  Bench bench;
  bench.checkpoints->start(SteadyTime{});
  SECTION("nothing") {}
  SECTION("a link") {
    std::filesystem::create_symlink("/etc/hostname", bench.root / "slot" / "checkpoint");
  }
  SECTION("a directory") {
    std::filesystem::create_directories(bench.root / "slot" / "checkpoint" / "deep");
  }
  SECTION("a pipe that nobody writes to") {
    REQUIRE(::mkfifo((bench.root / "slot" / "checkpoint").c_str(), 0600) == 0);
  }
  SECTION("a file that is larger than any may be") {
    bench.kernel_writes("x");
    std::filesystem::resize_file(bench.root / "slot" / "checkpoint", limits::checkpoint_bytes_max + 1);
  }
  CHECK_FALSE(bench.checkpoints->keep(*bench.unit, bench.root / "slot").ok());
  CHECK(bench.kept() == 0);
}

TEST_CASE("A checkpoint that could not be taken leaves the one before it") {
  Bench bench;
  bench.checkpoints->start(SteadyTime{});
  bench.kernel_writes("whole");
  REQUIRE(bench.checkpoints->keep(*bench.unit, bench.root / "slot").ok());
  std::filesystem::create_symlink("/etc/hostname", bench.root / "slot" / "checkpoint");
  CHECK_FALSE(bench.checkpoints->keep(*bench.unit, bench.root / "slot").ok());
  CHECK(bench.checkpoints->find(*bench.unit).where == Checkpoint::Where::here);
}

TEST_CASE("What another host saved that unpacks to more than may move does not count") {
  const Bench bench(protocol::BegunItem{0.5, io::compress(Bytes(limits::saved_bytes_max + 1, '\0'))});
  CHECK_FALSE(bench.checkpoints->find(*bench.unit).any());
}

TEST_CASE("What another host saved is for the unit's first item alone") {
  Bench bench(protocol::BegunItem{0.5, io::compress("theirs")});
  const Checkpoint found = bench.checkpoints->find(*bench.unit);
  REQUIRE(found.where == Checkpoint::Where::elsewhere);
  REQUIRE(bench.checkpoints->lay_out(*bench.unit, found).ok());
  CHECK(bench.kernel_finds() == "theirs");
  SECTION("an application that knows no checkpoints") {
    bench.unit->prepared->manifest.checkpoint = false;
  }
  SECTION("a later item") {
    bench.unit->held->add_item(0, "item-0");
  }
  CHECK_FALSE(bench.checkpoints->find(*bench.unit).any());
}

TEST_CASE("A long item is saved as often as finished ones are delivered") {
  Bench bench;
  const SteadyTime begun{1h};
  Checkpoints& checkpoints = *bench.checkpoints;
  checkpoints.start(begun);
  CHECK_FALSE(checkpoints.due(60s, 59s, begun + 60s));  // the item is short, so far
  CHECK_FALSE(checkpoints.due(60s, 60s, begun + 59s));
  CHECK(checkpoints.due(60s, 60s, begun + 60s));
  checkpoints.asked(begun + 60s);
  CHECK(checkpoints.awaited());
  CHECK_FALSE(checkpoints.due(60s, 200s, begun + 200s));  // one at a time
  checkpoints.answered();
  CHECK_FALSE(checkpoints.due(60s, 90s, begun + 90s));
  CHECK(checkpoints.due(60s, 120s, begun + 120s));
}

TEST_CASE("A unit is charged with its processor time, and with running time while it is not paused") {
  using State = ComputingTime::State;
  Bench bench;
  Unit& unit = *bench.unit;
  ComputingTime time;
  const SteadyTime begun{1h};
  time.start_kernel();
  time.start_unit(0s, begun);
  time.charge(unit, 8s, 4, State::running, begun + 10s);
  CHECK(unit.cpu_time == 8s);
  CHECK(unit.run_time == 10s);
  CHECK(unit.core_time == 40s);
  time.charge(unit, 9s, 4, State::paused, begun + 100s);
  CHECK(unit.cpu_time == 9s);
  CHECK(unit.run_time == 10s);
  // A new process counts from nothing.
  time.start_kernel();
  time.start_unit(0s, begun + 100s);
  time.charge(unit, 1s, 4, State::running, begun + 101s);
  CHECK(unit.cpu_time == 10s);
  CHECK(unit.core_time == 44s);
}

TEST_CASE("A kernel that sleeps for two minutes hangs, one that wakes up does not") {
  using Verdict = client_policy::HangVerdict;
  ComputingTime time;
  SteadyTime now{1h};
  time.start_kernel();
  time.start_unit(0s, now);
  CHECK_FALSE(time.watch_due(now));
  const bool wakes = GENERATE(false, true);
  Duration cpu{0};
  Verdict verdict = Verdict::fine;
  for (int second = 0; second < 125; ++second) {
    now += 1s;
    cpu += wakes && second % 100 == 99 ? 15ms : 5ms;  // less than a hundredth is nothing
    REQUIRE(time.watch_due(now));
    verdict = time.watch(cpu, true, 600, 1, now);
  }
  CHECK((wakes ? verdict == Verdict::fine : verdict == Verdict::asleep));
}

TEST_CASE("A kernel may talk as much as somebody could read, and more at once") {
  Talk talk;
  SteadyTime now{1h};
  talk.start(now);
  CHECK(talk.excess(Talk::bytes_at_once_max, now).empty());
  CHECK_FALSE(talk.excess(Talk::bytes_at_once_max + 1, now).empty());
  std::int64_t said = 0;
  talk.start(now);
  for (int second = 0; second < 3600; ++second)
    REQUIRE(talk.excess(said += Talk::bytes_per_second_max, now += 1s).empty());
  int seconds = 0;
  while (talk.excess(said += 2 * Talk::bytes_per_second_max, now += 1s).empty()) ++seconds;
  // What a second allows is gone with that second: the last one's words still count.
  CHECK(seconds == Talk::bytes_at_once_max / Talk::bytes_per_second_max - 1);
}

TEST_CASE("One item may take three times the longest time that the manifest allows, by processor time") {
  using Verdict = client_policy::HangVerdict;
  ComputingTime time;
  const SteadyTime begun{1h};
  time.start_kernel();
  time.start_unit(0s, begun);
  CHECK(time.watch(60s, false, 10, 2, begun + 1h) == Verdict::fine);
  CHECK(time.watch(61s, false, 10, 2, begun + 1h + 1s) == Verdict::too_long);
  time.finish_item(61s);
  CHECK(time.watch(62s, false, 10, 2, begun + 1h + 2s) == Verdict::fine);
}

TEST_CASE("An item that takes for ever is ended although its kernel hides what it uses, or dozes") {
  using Verdict = client_policy::HangVerdict;
  const bool dozes = GENERATE(false, true);
  ComputingTime time;
  SteadyTime now{1h};
  time.start_kernel();
  time.start_unit(0s, now);
  Duration cpu{0};
  const auto run = [&](int seconds) {
    Verdict verdict = Verdict::fine;
    for (int second = 0; second < seconds && verdict == Verdict::fine; ++second) {
      if (dozes && second % 60 == 59) cpu += 15ms;
      verdict = time.watch(cpu, dozes, 10, 1, now += 1s);
    }
    return verdict;
  };
  CHECK(run(1000) == Verdict::fine);
  time.finish_item(cpu);
  CHECK(run(1000) == Verdict::fine);
  now += 24h;  // a pause
  time.resume(now);
  CHECK(run(1) == Verdict::endless);
}

}  // namespace
}  // namespace gleaner::engine::testing

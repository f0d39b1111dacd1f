#include "client/agent/watched_source.h"

#include <atomic>
#include <semaphore>

#include "shared/io/waiting.h"
#include "tests/catch.h"

namespace gleaner::agent {
namespace {
using namespace std::chrono_literals;
using Busy = SessionReport::Busy;

constexpr Duration silence_max = WatchedSource::probe_interval_min + answer_patience;

// The other side of a source: it can stand still, and end.
struct OtherSide {
  io::Wakeup bell;
  std::counting_semaphore<> goes_on{0};
  std::atomic<bool> stands_still = false, standing = false, gone = false, word_changed = false;
  std::atomic<int> served = 0, probed = 0;
  void ring() { bell.ring(); }
};

class TestSource final : public Source {
 public:
  explicit TestSource(OtherSide& other) : other_(other) {}
  io::Waitable waitable() const override { return other_.bell.waitable(); }
  SteadyTime wait_until() const override { return SteadyTime::max(); }
  Status serve(SteadyTime, Probe probe) override {
    if (probe == Probe::yes) ++other_.probed;
    (void)other_.bell.take();
    if (other_.stands_still) {
      other_.standing = true;
      other_.goes_on.acquire();
    }
    ++other_.served;
    if (other_.gone) return Error{ErrorKind::unavailable, "gone"};
    return {};
  }
  void say(SessionReport& report, SteadyTime) const override {
    report.inputs.push_back({"test", false, 20s, false});
    report.locked = !other_.word_changed;
    report.busy.push_back({Busy::Kind::full_screen, "mpv"});
  }

 private:
  OtherSide& other_;
};

class SettableClock final : public Clock {
 public:
  [[nodiscard]] static SteadyTime at(Duration time) { return SteadyTime{1h} + time; }
  void set(Duration time) { time_ = time; }
  [[nodiscard]] Timestamp now() const override { return {}; }
  [[nodiscard]] SteadyTime steady() const override { return at(time_); }

 private:
  std::atomic<Duration> time_ = Duration{0};
};

template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(5ms);
  return condition();
}

SessionReport report_of(const WatchedSource& source, SteadyTime now) {
  SessionReport report;
  source.say(report, now);
  return report;
}

TEST_CASE("What a source said holds while it answers; of a silent one only what is against calm") {
  OtherSide other;
  WatchedSource source(
      "the test",
      [&](SteadyTime) -> Result<std::unique_ptr<Source>> {
        return std::unique_ptr<Source>(std::make_unique<TestSource>(other));
      },
      system_clock());
  source.await(10s);
  const SteadyTime begun = system_clock().steady();
  const SessionReport calm = report_of(source, begun + 10s);
  REQUIRE(calm.inputs.size() == 1);
  CHECK(calm.inputs[0].idle >= 29s);
  CHECK(calm.inputs[0].idle <= 31s);
  CHECK(calm.locked == true);
  CHECK(calm.missing.empty());
  other.stands_still = true;
  other.ring();
  REQUIRE(soon([&] { return other.standing.load(); }));
  CHECK(source.wait_until(begun) <= begun + silence_max + 1s);
  const SessionReport silent = report_of(source, begun + silence_max + 1s);
  CHECK(silent.inputs.empty());
  CHECK_FALSE(silent.locked);
  CHECK(silent.busy.size() == 1);
  CHECK(silent.missing == std::vector<std::string>{"the test does not answer"});
  CHECK(source.wait_until(begun + silence_max + 1s) == SteadyTime::max());
  other.stands_still = false;
  other.goes_on.release();
  REQUIRE(soon([&] { return other.served > 0; }));
  CHECK(soon([&] { return report_of(source, system_clock().steady()).inputs.size() == 1; }));
}

TEST_CASE(
    "The longer a source's word has held, the more seldom it is asked, and the later it counts as silent") {
  OtherSide other;
  SettableClock clock;
  WatchedSource source(
      "the test",
      [&](SteadyTime) -> Result<std::unique_ptr<Source>> {
        return std::unique_ptr<Source>(std::make_unique<TestSource>(other));
      },
      clock);
  source.await(10s);
  const auto probes_by = [&](Duration time) {
    clock.set(time);
    other.ring();
    REQUIRE(soon([&] {
      const SessionReport said = report_of(source, clock.steady());
      return said.inputs.size() == 1 && said.inputs[0].idle == 20s;  // told now
    }));
    return other.probed.load();
  };
  CHECK(probes_by(9s) == 0);
  CHECK(probes_by(10s) == 1);
  CHECK(probes_by(19s) == 1);
  CHECK(probes_by(20s) == 2);
  CHECK(probes_by(39s) == 2);
  CHECK(probes_by(40s) == 3);
  CHECK(probes_by(80s) == 4);
  CHECK(probes_by(139s) == 4);
  CHECK(probes_by(140s) == 5);  // once a minute
  const auto missing_at = [&](Duration time) {
    return report_of(source, SettableClock::at(time)).missing.size();
  };
  CHECK(missing_at(205s) == 0);
  CHECK(missing_at(206s) == 1);
  other.word_changed = true;
  CHECK(probes_by(150s) == 5);
  CHECK(missing_at(165s) == 0);
  CHECK(missing_at(166s) == 1);
}

TEST_CASE("A source that ends is made anew, and over when it is not there any more") {
  OtherSide other;
  std::atomic<int> made = 0;
  WatchedSource source(
      "the test",
      [&](SteadyTime) -> Result<std::unique_ptr<Source>> {
        if (++made > 2) return Error{ErrorKind::not_found, "it is not there"};
        return std::unique_ptr<Source>(std::make_unique<TestSource>(other));
      },
      system_clock());
  source.await(10s);
  CHECK_FALSE(source.over());
  other.gone = true;
  other.ring();
  REQUIRE(soon([&] { return made == 2; }));
  other.ring();
  REQUIRE(soon([&] { return source.over().has_value(); }));
  CHECK(source.over()->message == "it is not there");
}

TEST_CASE("Who is done with a source does not wait for one that stands still") {
  auto other = std::make_shared<OtherSide>();
  other->stands_still = true;
  auto ended = std::make_shared<std::atomic<bool>>(false);
  {
    WatchedSource source(
        "the test",
        [other, ended](SteadyTime) -> Result<std::unique_ptr<Source>> {
          other->goes_on.acquire();
          *ended = true;
          return Error{ErrorKind::not_found, "it is not there"};
        },
        system_clock());
    source.await(1ms);
    CHECK_FALSE(source.over());
  }
  CHECK_FALSE(*ended);
  other->goes_on.release();
  CHECK(soon([&] { return ended->load(); }));
}

}  // namespace
}  // namespace gleaner::agent

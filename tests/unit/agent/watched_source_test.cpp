#include "client/agent/watched_source.h"

#include <sys/eventfd.h>

#include <atomic>
#include <semaphore>

#include "shared/io/descriptor.h"
#include "tests/catch.h"

namespace gleaner::agent {
namespace {
using namespace std::chrono_literals;
using Busy = SessionReport::Busy;

// The other side of a source: it can stand still, and end.
struct OtherSide {
  io::Descriptor bell{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::counting_semaphore<> goes_on{0};
  std::atomic<bool> stands_still = false, standing = false, gone = false;
  std::atomic<int> served = 0;
  void ring() const { REQUIRE(::eventfd_write(bell.get(), 1) == 0); }
};

class TestSource final : public Source {
 public:
  explicit TestSource(OtherSide& other) : other_(other) {}
  int descriptor() const override { return other_.bell.get(); }
  SteadyTime wait_until() const override { return SteadyTime::max(); }
  Status serve(SteadyTime) override {
    eventfd_t count = 0;
    (void)::eventfd_read(other_.bell.get(), &count);
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
    report.locked = true;
    report.busy.push_back({Busy::Kind::full_screen, "mpv"});
  }

 private:
  OtherSide& other_;
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
  CHECK(source.wait_until(begun) <= begun + WatchedSource::silence_max + 1s);
  const SessionReport silent = report_of(source, begun + WatchedSource::silence_max + 1s);
  CHECK(silent.inputs.empty());
  CHECK_FALSE(silent.locked);
  CHECK(silent.busy.size() == 1);
  CHECK(silent.missing == std::vector<std::string>{"the test does not answer"});
  CHECK(source.wait_until(begun + WatchedSource::silence_max + 1s) == SteadyTime::max());
  other.stands_still = false;
  other.goes_on.release();
  REQUIRE(soon([&] { return other.served > 0; }));
  CHECK(soon([&] { return report_of(source, system_clock().steady()).inputs.size() == 1; }));
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

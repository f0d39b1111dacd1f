// When a client speaks to a server, what it says first, and when its results go out.
#include "client/policy/session_pacing.h"

#include "client/policy/delivery.h"
#include "client/policy/prefetch.h"
#include "shared/base/limits.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;

constexpr SteadyTime at_first{1h};
constexpr Outgoing everything{true, true, true, true, true};

TEST_CASE("What is most urgent is said first") {
  const SessionPacing session;
  Outgoing outgoing = everything;
  CHECK(session.due(outgoing, at_first) == Exchange::project);
  outgoing.project = false;
  CHECK(session.due(outgoing, at_first) == Exchange::failure);
  outgoing.failure = false;
  CHECK(session.due(outgoing, at_first) == Exchange::work);
  outgoing.work = false;
  CHECK(session.due(outgoing, at_first) == Exchange::heartbeat);
  outgoing.units = false;
  CHECK(session.due(outgoing, at_first) == Exchange::commit);
  outgoing.commit = false;
  CHECK(session.due(outgoing, at_first) == Exchange::none);
  CHECK(session.next(outgoing, at_first) == SteadyTime::max());
}

TEST_CASE("A heartbeat comes when the server said, a second later at least, and only with units to tell of") {
  SessionPacing session;
  session.heartbeat_in(30, at_first);
  Outgoing units;
  units.units = true;
  CHECK(session.due(units, at_first + 30s - 1us) == Exchange::none);
  CHECK(session.next(units, at_first) == at_first + 30s);
  CHECK(session.next({}, at_first) == SteadyTime::max());
  CHECK(session.due(units, at_first + 30s) == Exchange::heartbeat);
  session.heartbeat_in(0.001, at_first);
  CHECK(session.next(units, at_first) == at_first + 1s);
  session.heartbeat_in(1e12, at_first);
  CHECK(session.next(units, at_first) == at_first + std::chrono::seconds{limits::retry_after_seconds_max});
  session.heartbeat_soon(at_first);
  CHECK(session.due(units, at_first) == Exchange::heartbeat);
}

TEST_CASE("After a failure nothing is said for a while, longer each time, until something succeeds") {
  Random random(1);
  for (int run = 0; run < 50; ++run) {
    SessionPacing session;
    Duration longest{0};
    for (int failure = 0; failure < 30; ++failure) {
      session.failed(std::nullopt, at_first, random);
      const Duration silence = session.silent_until() - at_first;
      CHECK(silence >= 100ms);
      CHECK(silence <= 10min);
      longest = std::max(longest, silence);
      CHECK(session.due(everything, at_first + silence - 1us) == Exchange::none);
      CHECK(session.next(everything, at_first) == at_first + silence);
      CHECK_FALSE(session.may_ask(at_first, true));
      CHECK(session.due(everything, at_first + silence) == Exchange::project);
    }
    CHECK(longest > 1min);
    session.succeeded(std::nullopt, at_first, random);
    session.failed(std::nullopt, at_first, random);
    CHECK(session.silent_until() <= at_first + 1s);
  }
}

TEST_CASE("A server that asks for silence gets it, unless this computer slept meanwhile") {
  Random random(2);
  SessionPacing session;
  session.succeeded(20s, at_first, random);
  CHECK(session.silent_until() >= at_first + 20s);
  CHECK(session.silent_until() <= at_first + 22s);
  CHECK_FALSE(session.may_ask(at_first + 10s, true));
  session.heartbeat_in(60, at_first);
  session.forget_waits(at_first + 5s);
  CHECK(session.due(everything, at_first + 5s) == Exchange::project);
  CHECK(session.may_ask(at_first + 5s, false));
  Outgoing units;
  units.units = true;
  CHECK(session.due(units, at_first + 5s) == Exchange::heartbeat);
}

TEST_CASE("Slots that got nothing do not hold up what else there is to say") {
  Random random(3);
  SessionPacing session;
  session.work_answered({1, 0, true, false, 30}, at_first, random);
  CHECK_FALSE(session.may_ask(at_first + 29s, true));
  Outgoing outgoing{false, false, true, true, true};
  CHECK(session.due(outgoing, at_first) == Exchange::heartbeat);
  CHECK(session.next(outgoing, at_first) == session.work().idle_at());
  CHECK(session.due(outgoing, session.work().idle_at()) == Exchange::work);
}

TEST_CASE("Results go out at their pace, and at once when the unit is over or its owner is back") {
  CHECK_FALSE(cut_due({false, false, 59s, 60s}));
  CHECK(cut_due({false, false, 60s, 60s}));
  CHECK(cut_due({true, false, 0s, 60s}));
  CHECK(cut_due({false, true, 0s, 60s}));
  CHECK_FALSE(cut_due({false, false, 999ms, 0s}));
  CHECK(cut_due({false, false, 1s, 0s}));
}

TEST_CASE("A kernel is asked to save an item that has run long enough, no more often than that") {
  CHECK(save_due(60s, 60s, 60s));
  CHECK_FALSE(save_due(60s, 59s, 600s));
  CHECK_FALSE(save_due(60s, 600s, 59s));
}

TEST_CASE("A last result waits for a request that is near, and for no other") {
  PrefetchView view{true, false, 10s, 0ms, 0ms};
  CHECK_FALSE(piggyback_wait(view));
  view.remaining = lead(view) + 1s;
  CHECK(piggyback_wait(view) == Duration{1s + 50ms});
  view.has_waiting = true;
  CHECK_FALSE(piggyback_wait(view));
}

TEST_CASE("The recent mean begins with what was measured first and follows the newest") {
  RecentMean mean(0.5);
  CHECK(mean.value() == 0s);
  mean.add(8s);
  CHECK(mean.value() == 8s);
  mean.add(4s);
  CHECK(mean.value() == 6s);
}

}  // namespace
}  // namespace gleaner::client_policy

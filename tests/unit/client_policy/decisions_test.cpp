#include "client/policy/hang.h"
#include "client/policy/prefetch.h"
#include "client/policy/proposal.h"
#include "client/policy/run_decision.h"
#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;

TEST_CASE("The decision is total, gives a reason, and the most cautious voice wins") {
  Random random(3);
  for (int i = 0; i < 10'000; ++i) {
    Preferences preferences;
    preferences.enabled = random.chance(0.8);
    if (random.chance(0.3)) preferences.paused_for = Duration{random.between(-10, 100'000'000)};
    preferences.cpu_share = random.chance(0.5) ? 1 : random.uniform() * 1.5 - 0.2;
    preferences.cores = static_cast<int>(random.between(-2, 8));
    std::vector<Signal> signals;
    RunMode most = RunMode::run;
    for (std::int64_t n = random.between(0, 4); n > 0; --n) {
      const auto allows = static_cast<RunMode>(random.between(1, 3));
      most = std::min(most, allows);
      signals.push_back({"test", allows, random.chance(0.5) ? "because" : ""});
    }
    const RunDecision decision = decide(preferences, signals);
    INFO("run " << i);
    CHECK_FALSE(decision.reason.empty());
    CHECK(static_cast<int>(decision.mode) <= static_cast<int>(most));
    const bool paused = preferences.paused_for && *preferences.paused_for > Duration{0};
    if (!preferences.enabled || paused || preferences.cpu_share <= 0) CHECK(decision.mode == RunMode::pause);
    if (decision.mode != RunMode::pause) {
      CHECK(decision.cpu_share > 0);
      CHECK(decision.cpu_share <= 1);
    }
    CHECK(decision.cores >= 1);
  }
}

TEST_CASE("The owner's own word is the reason given") {
  Preferences preferences;
  preferences.paused_for = 90s;
  const RunDecision decision = decide(preferences, {{"disk", RunMode::pause, "the disk is full"}});
  CHECK(decision.reason == "you paused it for 2 more minutes");
  CHECK(decision.recheck == Duration{90s});
  preferences.paused_for = 9500ms;
  CHECK(decide(preferences, {}).reason == "you paused it for 10 more seconds");
  preferences.paused_for = 1ms;
  CHECK(decide(preferences, {}).reason == "you paused it for 1 more second");
}

TEST_CASE("What a project is told names no person, session, program or path") {
  const auto told = [](const char* source, const char* sentence) {
    return told_to_project(decide({}, {{source, RunMode::pause, sentence}}));
  };
  CHECK(told("people", "somebody used this computer 3 seconds ago (seat0, x11)") ==
        "somebody uses this computer");
  CHECK(told("level", "somebody is logged in (tty1 (alice)): the preferences say \"off\"") ==
        "its owner's preferences limit it now");
  CHECK(told("program", "game.exe runs, which is to have it alone") ==
        "a program runs that is to have the computer alone");
  CHECK(told("outside", "/home/alice/bin/price says no: I sleep") == "a program of its owner's says no");
  CHECK(told("disk", "results cannot be written: /home/alice/gleaner: full") ==
        "its disk does not take results");
  CHECK(told("machine", "memory is short: programs wait for it") == "memory is short: programs wait for it");
  Preferences paused;
  paused.paused_for = 90s;
  CHECK(told_to_project(decide(paused, {{"people", RunMode::pause, "alice"}})) == "its owner paused it");
  CHECK(told_to_project(decide({}, {})) == decide({}, {}).reason);
}

TEST_CASE("A pause tells when it ends, and one that waits for saved points stops nothing yet") {
  Preferences preferences;
  preferences.paused_for = 10h;
  CHECK(decide(preferences, {}).reason == "you paused it for 10 more hours");
  preferences.paused_until = "18:30";
  CHECK(decide(preferences, {}).reason == "you paused it for 10 more hours, until 18:30");
  preferences.paused_for = 24h * 30;
  CHECK(decide(preferences, {}).reason.starts_with("you paused it for 30 more days"));
  preferences.until_saved = true;
  CHECK(decide(preferences, {}).mode == RunMode::run);
  CHECK(decide(preferences, {}).reason.starts_with("you paused it: each core stops at its next saved point"));
  CHECK(decide(preferences, {{"people", RunMode::pause, "somebody is here"}}).mode == RunMode::pause);
}

TEST_CASE("Proposals follow equations 10 to 12") {
  // Pu_i = 3 Pu_slowest, one foreign job now, none when unloaded: 3 * 1/2, rounded down.
  CHECK(propose({300, 1, 100, 1}).items == 1);
  CHECK(propose({1000, 1, 100, 0}).items == 10);
  CHECK(propose({1000, 0.5, 100, 0}).items == 5);
  CHECK(propose({1000, 1, 100, 3}).items == 2);
  CHECK(propose({50, 1, 100, 0}).items == 1);  // never less than one
  CHECK(propose({50, 0.5, 100, 0, 12}).watts == 6);
  CHECK(propose({50, 0.5, 100, 0}).watts == 0);
  CHECK(propose({0, 1, 100, 0}).items == 0);  // not measured
  CHECK(propose({100, 1, 0, 0}).items == 0);  // nobody to compare with
  CHECK(propose({100, 1, 0, 2}).queue_current == 3);
}

TEST_CASE("A proposal grows with performance and shrinks with the queue") {
  Random random(9);
  for (int i = 0; i < 2000; ++i) {
    ProposalView view{1 + 10'000 * random.uniform(), 0.01 + 0.99 * random.uniform(),
                      1 + 1000 * random.uniform(), 4 * random.uniform()};
    const double items = propose(view).items;
    CHECK(items >= 1);
    ProposalView faster = view;
    faster.benchmark_mflops *= 2;
    CHECK(propose(faster).items >= items);
    ProposalView busier = view;
    busier.foreign_current += 1;
    CHECK(propose(busier).items <= items);
  }
}

TEST_CASE("A slot asks when idle, or in time before its unit ends, and never for a second one") {
  CHECK(should_ask({false, false, {}, 0ms, 0ms}) == Ask::now);
  CHECK(should_ask({false, true, {}, 0ms, 0ms}) == Ask::no);
  CHECK(should_ask({true, true, Duration{1ms}, 0ms, 0ms}) == Ask::no);
  CHECK(should_ask({true, false, {}, 0ms, 0ms}) == Ask::no);
  CHECK(should_ask({true, false, Duration{10s}, 20ms, 0ms}) == Ask::no);
  CHECK(should_ask({true, false, Duration{10s}, 20ms, 11s}) == Ask::soon);
  CHECK(should_ask({true, false, Duration{1s}, 600ms, 0ms}) == Ask::soon);
}

TEST_CASE("until_ask is when should_ask changes its mind") {
  Random random(21);
  for (int i = 0; i < 5000; ++i) {
    PrefetchView view{true, false, Duration{random.between(0, 600'000'000)},
                      Duration{random.between(0, 2'000'000)}, Duration{random.between(0, 400'000'000)}};
    CHECK(lead(view) >= lead_min);
    CHECK(lead(view) <= lead_max);
    const auto until = until_ask(view);
    CHECK((should_ask(view) == Ask::soon) == !until.has_value());
    if (!until) continue;
    view.remaining = *view.remaining - *until;
    CHECK(should_ask(view) == Ask::soon);
  }
}

TEST_CASE("A kernel hangs when it sleeps long or computes one item beyond reason, by CPU time") {
  CHECK(judge({0s, 100s, 100s, 600, 1}) == HangVerdict::fine);
  CHECK(judge({119s, 0s, 119s, 600, 1}) == HangVerdict::fine);
  CHECK(judge({120s, 0s, 120s, 600, 1}) == HangVerdict::asleep);
  CHECK(judge({0s, 1801s, 1801s, 600, 1}) == HangVerdict::too_long);
  CHECK(judge({0s, 1s, 60'000s, 600, 1}) == HangVerdict::fine);
  CHECK(judge({0s, 1s, 60'001s, 600, 1}) == HangVerdict::endless);
  CHECK(judge({0s, 1801s, 600s, 600, 4}) == HangVerdict::fine);
}

}  // namespace
}  // namespace gleaner::client_policy

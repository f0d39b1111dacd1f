#include "client/policy/cpu_turns.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "client/policy/cpu_share.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;

TEST_CASE("A kernel waits while as many run as their shares allow, and once only") {
  std::vector<SlicedKernel> all{{1, true}, {1, false}};
  CHECK(must_wait(all, 1, 0.5));
  CHECK_FALSE(must_wait(all, 1, 0.6));  // one and a fifth: two may run
  all[1].waits = true;
  CHECK_FALSE(must_wait(all, 1, 0.5));
  all = {{1, false}, {4, false}};
  CHECK_FALSE(must_wait(all, 1, 0.1));  // more than is allowed, but nothing runs
}

TEST_CASE("Of those that wait the one with the most credit is next") {
  CHECK_FALSE(next_turn(std::vector<SlicedKernel>{{1, true}, {1, false}}));
  CHECK(next_turn(std::vector<SlicedKernel>{
            {1, false, true, 1ms}, {1, false, true, 3ms}, {1, false, false, 9ms}}) == 1);
}

// A computer with a processor for each kernel, millisecond by millisecond: how many milliseconds each number
// of kernels ran at once.
struct Played {
  std::vector<int> together;
  std::vector<Duration> used;
};
Played play(std::size_t kernels, double share, bool take_turns, std::size_t idle = 0) {
  constexpr int milliseconds = 10'000;
  struct One {
    CpuShare account;
    bool runs = true, waits = false;
    int next = 0, seen = 0;  // looks
    Duration unseen{0};
  };
  std::vector<One> all(kernels, One{CpuShare(share)});
  Played played{std::vector<int>(kernels + 1), std::vector<Duration>(kernels)};
  const auto sliced = [&] {
    std::vector<SlicedKernel> now;
    for (const One& one : all) now.push_back({1, one.runs, one.waits, one.account.balance()});
    return now;
  };
  for (int now = 0; now < milliseconds; ++now) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < kernels; ++i) {
        One& one = all[i];
        if (one.next > now) continue;
        const bool run =
            one.account.next(1ms * (now - one.seen), std::exchange(one.unseen, Duration{0})) == Slice::run;
        one.seen = now;
        one.next = now + 10;
        if (run && !one.runs && take_turns && must_wait(sliced(), i, share)) {
          one.waits = true;
          continue;
        }
        const bool ends = one.runs && !run;
        one.runs = run;
        one.waits = false;
        if (!run) one.next = now + std::max(1, static_cast<int>(one.account.until_credit() / 1ms));
        if (const auto next = ends ? next_turn(sliced()) : std::nullopt) {
          all[*next].next = now;
          changed = true;
        }
      }
    }
    ++played.together[static_cast<std::size_t>(std::ranges::count_if(all, &One::runs))];
    for (std::size_t i = idle; i < kernels; ++i) {
      if (!all[i].runs) continue;
      all[i].unseen += 1ms;
      played.used[i] += 1ms;
    }
  }
  return played;
}

TEST_CASE("Kernels that take turns run one after the other, and each gets its share") {
  for (const auto& [kernels, share, most] : {std::tuple{2U, 0.5, 1U}, {4U, 0.5, 2U}, {3U, 0.5, 2U}}) {
    INFO(kernels << " kernels at " << share);
    const Played turns = play(kernels, share, true);
    int crowded = 0;
    for (std::size_t running = most + 1; running <= kernels; ++running) crowded += turns.together[running];
    CHECK(crowded < 10'000 / 20);
    for (const Duration used : turns.used) CHECK(to_seconds(used) == Approx(10 * share).epsilon(0.03));
    const Played together = play(kernels, share, false);  // they begin at the same moment
    CHECK(together.together[kernels] > 10'000 / 5);
  }
}

TEST_CASE("A kernel that does not use what it may keeps no other from its share") {
  const Played played = play(3, 0.5, true, 1);
  CHECK(to_seconds(played.used[1]) == Approx(5).epsilon(0.03));
  CHECK(to_seconds(played.used[2]) == Approx(5).epsilon(0.03));
}

}  // namespace
}  // namespace gleaner::client_policy

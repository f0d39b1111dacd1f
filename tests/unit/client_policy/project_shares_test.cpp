// Which project a slot asks: shares hold in the long run, whatever the units; nobody starves; no slot waits
// while a project has work; one that returns starts level with the others.
#include "client/policy/project_shares.h"

#include <cmath>
#include <cstdint>
#include <queue>

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {

struct Project {
  std::string key;
  double share = 1;
  double unit_seconds = 10;  // mean
  bool has_work = true;
  double used = 0;
  int held = 0;
  double waited = 0;  // since it last got a slot
  double waited_most = 0;
};

// Slots in virtual time: each asks when its unit ends.
class Bench {
 public:
  Bench(std::vector<Project> projects, int slots, std::uint64_t seed)
      : projects_(std::move(projects)), random_(seed), slots_(slots) {
    for (const Project& project : projects_) shares_.join(project.key);
    for (int slot = 0; slot < slots_; ++slot) ends_.push({0, -1});
  }

  void run_until(double end) {
    while (ends_.top().at < end) {
      const End over = ends_.top();
      ends_.pop();
      now_ = over.at;
      if (over.project >= 0) give_back(over);
      ask();
    }
    now_ = end;
  }
  Project& operator[](std::size_t i) { return projects_[i]; }
  ProjectShares& shares() { return shares_; }
  [[nodiscard]] double idle() const { return idle_; }
  // Always asked one that has work, if there was any.
  [[nodiscard]] bool sound() const { return sound_; }
  void reset() {
    for (Project& project : projects_) project.used = 0;
  }

 private:
  struct End {
    double at;
    int project;
    double seconds = 0;
    bool operator<(const End& other) const { return at > other.at; }
  };

  void give_back(const End& over) {
    Project& project = projects_[static_cast<std::size_t>(over.project)];
    --project.held;
    project.used += over.seconds;
    shares_.charge(project.key, over.seconds, project.share);
  }

  void ask() {
    std::vector<ProjectClaim> claims;
    bool any = false;
    for (Project& project : projects_) {
      shares_.set_contends(project.key, project.has_work);
      claims.push_back({project.key, project.share, project.held * project.unit_seconds, project.has_work});
      any = any || project.has_work;
    }
    const std::size_t chosen = shares_.next(claims);
    sound_ = sound_ && (chosen < claims.size()) == any;  // work conserving, and total
    if (!any) {
      idle_ += 1;
      return ends_.push({now_ + 1, -1});
    }
    Project& project = projects_.at(chosen);
    sound_ = sound_ && project.has_work;
    ++project.held;
    const double seconds = project.unit_seconds * (0.2 + 1.6 * random_.uniform());
    ends_.push({now_ + seconds, static_cast<int>(chosen), seconds});
    for (Project& one : projects_) {
      one.waited = &one == &project || one.held > 0 ? now_ : one.waited;
      one.waited_most = std::max(one.waited_most, now_ - one.waited);
    }
  }

  std::vector<Project> projects_;
  Random random_;
  int slots_;
  ProjectShares shares_;
  std::priority_queue<End> ends_;
  double now_ = 0;
  double idle_ = 0;
  bool sound_ = true;
};

std::uint64_t seed_of_today() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

TEST_CASE("While all have work, each has its share in the long run, whatever its units are like") {
  const std::uint64_t seed = seed_of_today();
  CAPTURE(seed);
  Random random(seed);
  for (int round = 0; round < 20; ++round) {
    std::vector<Project> projects;
    const auto count = 2 + random.below(4);
    double all = 0;
    double longest = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      Project project{std::string(1, static_cast<char>('a' + i))};
      project.share = 0.5 + 4 * random.uniform();
      project.unit_seconds = std::exp(3 * random.uniform());  // 1 to 20
      all += project.share;
      longest = std::max(longest, project.unit_seconds);
      projects.push_back(project);
    }
    const int slots = 1 + static_cast<int>(random.below(8));
    Bench bench(projects, slots, random.below(1 << 30));
    const double end = 1500 * longest;
    bench.run_until(end);
    CHECK(bench.idle() == 0);
    CHECK(bench.sound());
    for (std::size_t i = 0; i < projects.size(); ++i) {
      const double part = bench[i].used / (end * slots);
      CAPTURE(round, i, slots, bench[i].share, bench[i].unit_seconds);
      CHECK(part == Approx(bench[i].share / all).epsilon(0.03).margin(0.005));
      // Nobody starves: others have at most their part of what makes one unit of this one worth its share.
      CHECK(bench[i].waited_most < (4 + 4 * all / bench[i].share) * longest * static_cast<double>(count));
    }
  }
}

TEST_CASE("Of several idle slots, each goes to another project; equal ones by key") {
  ProjectShares shares;
  for (const char* key : {"b", "a"}) shares.join(key);
  std::vector<ProjectClaim> claims = {{"b", 1, 0, true}, {"a", 1, 0, true}};
  REQUIRE(shares.next(claims) == 1);
  claims[1].ahead = 10;
  CHECK(shares.next(claims) == 0);
  claims[1].share = 3;
  claims[0].ahead = 5;
  CHECK(shares.next(claims) == 1);
  claims[1].askable = false;
  CHECK(shares.next(claims) == 0);
  claims[0].askable = false;
  CHECK(shares.next(claims) == claims.size());
  CHECK(shares.next({}) == 0);
}

TEST_CASE("Who has no work is passed over, and has no more than the others when it returns") {
  Bench bench({{"a", 3}, {"b", 1}}, 2, 5);
  bench[1].has_work = false;
  bench.run_until(100'000);
  CHECK(bench[0].used > 199'000);
  bench[1].has_work = true;
  bench.reset();
  bench.run_until(101'000);
  CHECK(bench[0].used / (bench[0].used + bench[1].used) == Approx(0.75).margin(0.04));
  // Nobody had work for a while, and one of them comes back alone: the other has no debt.
  bench[0].has_work = bench[1].has_work = false;
  bench.run_until(102'000);
  CHECK(bench.idle() > 1000);
  bench[1].has_work = true;
  bench.run_until(150'000);
  bench[0].has_work = true;
  bench.reset();
  bench.run_until(151'000);
  CHECK(bench[0].used / (bench[0].used + bench[1].used) == Approx(0.75).margin(0.04));
  CHECK(bench.sound());
}

TEST_CASE("A project that is new starts with those that have work") {
  ProjectShares shares;
  shares.join("a");
  shares.charge("a", 5000, 2);
  shares.join("b");
  CHECK(shares.virtual_time("b") == 2500);
  CHECK(shares.recent_part("a") == 1);
  CHECK(shares.recent_part("b") == 0);
  shares.charge("b", 5000, 1);
  CHECK(shares.recent_part("b") == Approx(0.5).margin(0.02));
  CHECK(shares.recent_part("b") > 0.5);  // later counts more
}

TEST_CASE("What was kept goes on where it was") {
  ProjectShares shares;
  for (const char* key : {"a", "b"}) shares.join(key);
  shares.charge("a", 100, 1);
  shares.set_contends("a", false);
  ProjectShares again;
  again.restore(shares.uses());
  again.join("a");
  CHECK(again.virtual_time("a") == 100);
  CHECK(again.virtual_time("b") == 0);
  again.charge("b", 300, 1);
  again.set_contends("a", true);
  CHECK(again.virtual_time("a") == 300);
}

}  // namespace
}  // namespace gleaner::client_policy

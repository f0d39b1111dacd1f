#include "client/policy/notices.h"

#include "tests/catch.h"

namespace gleaner::client_policy {
namespace {
using namespace std::chrono_literals;
using Holds = TroubleSeen::Holds;

constexpr Timestamp monday{std::chrono::hours{24 * 20'000}};

// Looks once an hour; `time` passes for the calendar, and in this run.
struct Owner {
  Notices notices;
  Timestamp now = monday;
  SteadyTime steady{100h};
  std::vector<TroubleSeen> seen;

  std::optional<Notice> look() { return notices.due(seen, now, steady); }
  std::optional<Notice> after(Duration time) {
    for (; time > Duration{0}; time -= 1h) {
      (void)look();
      now += 1h;
      steady += 1h;
    }
    return look();
  }
  void restart() {
    const NoticeMemory memory = notices.memory();
    notices = {};
    notices.remember(memory);
    steady = SteadyTime{1h};
  }
};

TroubleSeen of(Trouble trouble, Holds holds = Holds::yes, const std::string& project = "k1") {
  return {project, "Room 12", trouble, holds};
}

TEST_CASE("A revoked computer is told of at once, until it was shown, and then no more") {
  Owner owner;
  owner.seen = {of(Trouble::revoked)};
  const auto one = owner.look();
  REQUIRE(one);
  CHECK(one->text.find("Room 12 no longer accepts this computer") == 0);
  const auto later = owner.after(72h);
  REQUIRE(later);
  CHECK(later->number == one->number);
  owner.notices.shown(one->number + 1, owner.now);  // of another
  CHECK(owner.look());
  owner.notices.shown(one->number, owner.now);
  CHECK_FALSE(owner.after(240h));
  owner.restart();
  CHECK_FALSE(owner.after(48h));
}

TEST_CASE("What is told after a week holds without a break, and for an hour of this run") {
  const Trouble trouble = GENERATE(Trouble::unreachable, Trouble::undelivered, Trouble::no_work);
  Owner owner;
  owner.seen = {of(trouble)};
  CHECK_FALSE(owner.after(167h));
  owner.restart();  // off for three days
  owner.now += 72h;
  CHECK_FALSE(owner.look());
  owner.seen = {of(trouble, Holds::unknown)};
  CHECK_FALSE(owner.after(2h));
  owner.seen = {of(trouble)};
  CHECK_FALSE(owner.look());
  CHECK(owner.after(1h));
  owner.seen = {of(trouble, Holds::no)};  // nobody saw it in time
  CHECK_FALSE(owner.look());
  owner.seen = {of(trouble)};
  CHECK_FALSE(owner.after(167h));
  CHECK(owner.after(1h));
}

TEST_CASE("A computer that is held back is told of after an hour") {
  Owner owner;
  owner.seen = {of(Trouble::held_back)};
  CHECK_FALSE(owner.look());
  CHECK(owner.after(1h));
}

TEST_CASE("There is one notice a day, and the same trouble counts anew when it was well for a day") {
  Owner owner;
  owner.seen = {of(Trouble::revoked), of(Trouble::revoked, Holds::yes, "k2")};
  const auto one = owner.look();
  REQUIRE(one);
  owner.notices.shown(one->number, owner.now);
  CHECK_FALSE(owner.after(23h));
  const auto second = owner.after(1h);
  REQUIRE(second);
  CHECK(second->number != one->number);
  owner.notices.shown(second->number, owner.now);
  owner.seen = {of(Trouble::revoked, Holds::no)};
  CHECK_FALSE(owner.after(12h));
  owner.seen = {of(Trouble::revoked)};
  CHECK_FALSE(owner.after(48h));  // not long enough
  owner.seen = {of(Trouble::revoked, Holds::no)};
  CHECK_FALSE(owner.after(25h));
  owner.seen = {of(Trouble::revoked)};
  CHECK(owner.look());
}

TEST_CASE("A calendar that went back neither tells again nor keeps silent for ever") {
  Owner owner;
  owner.seen = {of(Trouble::revoked), of(Trouble::held_back)};
  owner.notices.shown(owner.look()->number, owner.now);
  owner.now -= 240h;
  CHECK_FALSE(owner.after(23h));
  CHECK(owner.after(2h));
}

TEST_CASE("Of a project that was left nothing is told") {
  Owner owner;
  owner.seen = {of(Trouble::revoked)};
  CHECK(owner.look());
  owner.seen.clear();
  CHECK_FALSE(owner.look());
  CHECK(owner.notices.memory().entries.empty());
}

}  // namespace
}  // namespace gleaner::client_policy

// Links and sessions of the console: good once, good for so long, no more of them than allowed.
#include "server/console/sessions.h"

#include <set>

#include "tests/catch.h"

using namespace gleaner;
using console::SessionRules;
using console::Sessions;

namespace {

constexpr SteadyTime start{std::chrono::hours{100}};
SteadyTime after(Duration passed) {
  return start + passed;
}

}  // namespace

TEST_CASE("a link is good once, and for two minutes") {
  Sessions sessions;
  const std::string link = sessions.make_link("ann", start);
  const std::string other = sessions.make_link("bob", start);
  CHECK(link.size() == 43);  // 256 bits
  CHECK(link != other);
  CHECK(sessions.take_link(link, after(std::chrono::seconds{119})).value() == "ann");
  CHECK(sessions.take_link(link, after(std::chrono::seconds{119})).error().kind == ErrorKind::unauthorized);
  CHECK_FALSE(sessions.take_link(other, after(std::chrono::seconds{120})).ok());
  CHECK_FALSE(sessions.take_link(other, start).ok());  // it went when it was seen to be old
  CHECK_FALSE(sessions.take_link("", start).ok());
}

TEST_CASE("a look at a link tells whose it is, and does not use it up") {
  Sessions sessions;
  const std::string link = sessions.make_link("ann", start);
  for (int i = 0; i < 3; ++i) CHECK(sessions.owner_of_link(link, start).value() == "ann");
  CHECK_FALSE(sessions.owner_of_link(link, after(std::chrono::seconds{120})).ok());
  CHECK_FALSE(sessions.owner_of_link("", start).ok());
  CHECK(sessions.take_link(link, start).value() == "ann");
  CHECK(sessions.owner_of_link(link, start).error().kind == ErrorKind::unauthorized);
}

TEST_CASE("a session ends when it is not used, and at the end of the day in any case") {
  Sessions sessions;
  const auto opened = sessions.open("ann", start);
  CHECK(opened.secret != opened.session.guard);
  Duration passed{};
  for (; passed < std::chrono::hours{12}; passed += std::chrono::minutes{119}) {
    const auto found = sessions.find(opened.secret, after(passed));
    REQUIRE(found.ok());
    CHECK(found->admin == "ann");
    CHECK(found->guard == opened.session.guard);
  }
  CHECK_FALSE(sessions.find(opened.secret, after(std::chrono::hours{12})).ok());
  const auto idle = sessions.open("ann", start);
  CHECK_FALSE(sessions.find(idle.secret, after(std::chrono::hours{2})).ok());
  CHECK_FALSE(sessions.find(idle.secret, start).ok());
  CHECK(sessions.count() == 0);
}

TEST_CASE("logging out ends one session; another one's secret opens nothing else") {
  Sessions sessions;
  const auto first = sessions.open("ann", start), second = sessions.open("ann", start);
  sessions.close(first.secret);
  CHECK_FALSE(sessions.find(first.secret, start).ok());
  CHECK(sessions.find(second.secret, start).ok());
  CHECK_FALSE(sessions.find(second.session.guard, start).ok());
}

TEST_CASE("who logs in again and again ends sessions and links of its own alone") {
  Sessions sessions;
  const std::string link = sessions.make_link("ann", start);
  const auto opened = sessions.open("ann", start);
  std::vector<std::string> links, secrets;
  for (int i = 0; i < 2000; ++i) {
    links.push_back(sessions.make_link("vera", after(std::chrono::milliseconds{i})));
    secrets.push_back(sessions.open("vera", after(std::chrono::milliseconds{i})).secret);
  }
  CHECK(sessions.owner_of_link(link, after(std::chrono::seconds{3})).ok());
  CHECK(sessions.find(opened.secret, after(std::chrono::seconds{3})).ok());
  CHECK(sessions.count() == 1 + limits::console_sessions_of_one_max);
  CHECK(sessions.find(secrets.back(), after(std::chrono::seconds{3})).ok());
  CHECK_FALSE(sessions.find(secrets.front(), after(std::chrono::seconds{3})).ok());
  CHECK(sessions.take_link(links.back(), after(std::chrono::seconds{3})).ok());
  CHECK_FALSE(sessions.take_link(links.front(), after(std::chrono::seconds{3})).ok());
}

TEST_CASE("there are no more of them than allowed: the oldest go") {
  SessionRules rules;
  rules.links_max = 2;
  rules.sessions_max = 2;
  Sessions sessions(rules);
  const std::string first = sessions.make_link("a", start);
  const std::string second = sessions.make_link("b", after(std::chrono::seconds{1}));
  const std::string third = sessions.make_link("c", after(std::chrono::seconds{2}));
  CHECK_FALSE(sessions.take_link(first, after(std::chrono::seconds{3})).ok());
  CHECK(sessions.take_link(second, after(std::chrono::seconds{3})).ok());
  CHECK(sessions.take_link(third, after(std::chrono::seconds{3})).ok());
  const auto one = sessions.open("a", start), two = sessions.open("b", start);
  CHECK(sessions.find(one.secret, after(std::chrono::seconds{1})).ok());
  const auto three = sessions.open("c", after(std::chrono::seconds{2}));
  CHECK(sessions.count() == 2);
  CHECK(sessions.find(one.secret, after(std::chrono::seconds{3})).ok());
  CHECK_FALSE(sessions.find(two.secret, after(std::chrono::seconds{3})).ok());
  CHECK(sessions.find(three.secret, after(std::chrono::seconds{3})).ok());
}

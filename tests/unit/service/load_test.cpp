// Who is served when more come than can be served.
#include "server/service/core/load.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "shared/base/limits.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using service::Load;

TEST_CASE("strangers are asked to come again before hosts that have delivered are") {
  FakeClock clock;
  Load load(clock, {});
  int network = 0;  // each has another one
  const auto enter = [&](Load::Caller caller) {
    return load.enter({caller, "2001:db8:" + std::to_string(++network) + "::"}, Load::Size::small);
  };
  std::vector<Load::Place> places;
  for (int i = 0; i < limits::strangers_requests_under_way_max; ++i)
    places.push_back(must(enter(Load::Caller::stranger)));
  CHECK(load.under_way() == limits::strangers_requests_under_way_max);
  const auto refused = enter(Load::Caller::stranger);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(load.under_way() == limits::strangers_requests_under_way_max);
  while (load.under_way() < limits::requests_under_way_max)
    places.push_back(must(enter(Load::Caller::proven)));
  CHECK(!enter(Load::Caller::proven).ok());
  places.pop_back();
  CHECK(enter(Load::Caller::proven).ok());  // given back at once: nobody holds it
  CHECK(enter(Load::Caller::proven).ok());
  places.clear();
  CHECK(load.under_way() == 0);
  CHECK(enter(Load::Caller::stranger).ok());
}

TEST_CASE("who is answered has left its place, though somebody still holds it") {
  FakeClock clock;
  Load load(clock, {});
  const Load::Place place = must(load.enter({Load::Caller::proven, "192.0.2.1"}, Load::Size::small));
  CHECK(load.under_way() == 1);
  place->leave();
  CHECK(load.under_way() == 0);
  place->leave();
  CHECK(load.under_way() == 0);
}

TEST_CASE("hosts that ask without pause leave the last places to those that ask as seldom as a client does") {
  FakeClock clock;
  Load load(clock, {});
  std::vector<Load::Place> places;
  const auto enter = [&](int host) {
    return load.enter({Load::Caller::proven, "2001:db8:" + std::to_string(host) + "::", HostId{host}},
                      Load::Size::small);
  };
  const auto ask = [&](int host, int times) {
    for (int i = 0; i < times; ++i) (void)must(enter(host));
  };
  constexpr int crowd = limits::frequent_requests_under_way_max + 1;
  for (int host = 1; host <= crowd; ++host) ask(host, 13);  // a minute's worth, and one that begins another
  for (int host = 1; host < crowd; ++host) places.push_back(must(enter(host)));
  CHECK(!enter(crowd).ok());
  for (int host = crowd + 1; load.under_way() < limits::requests_under_way_max; ++host)
    places.push_back(must(enter(host)));  // others are served
  places.resize(limits::frequent_requests_under_way_max + 100);
  CHECK(!enter(crowd).ok());
  clock.advance(std::chrono::seconds{5});
  CHECK(enter(crowd).ok());  // it has waited
  CHECK(!enter(crowd).ok());
  places.clear();
  ask(crowd, 1000);  // where there is little to do, it may ask as often as it likes
  clock.advance(std::chrono::seconds{5});
  for (int host = 1; load.under_way() < limits::requests_under_way_max; ++host)
    if (auto place = enter(crowd + host); place.ok()) places.push_back(std::move(*place));
  places.pop_back();
  CHECK(enter(crowd).ok());  // and is not held to it for longer than it waits
}

TEST_CASE("of hosts that ask without pause a few are worked on at a time, in the order in which they came") {
  FakeClock clock;
  Load load(clock, {});
  std::int64_t hosts = 0;
  const auto enter = [&](int times) {
    ++hosts;
    Load::Place place;
    for (int i = 0; i < times; ++i)
      place =
          must(load.enter({Load::Caller::proven, "2001:db8:" + std::to_string(hosts) + "::", HostId{hosts}},
                          Load::Size::small));
    return place;
  };
  constexpr int often = 14;
  std::deque<Load::Place> worked_on;
  for (int i = 0; i < limits::frequent_requests_worked_on_max; ++i) {
    worked_on.push_back(enter(often));
    REQUIRE(worked_on.back()->begin());
  }
  std::vector<int> begun;
  constexpr int waiting = 300;
  for (int i = 0; i < waiting; ++i) {
    auto place = enter(often);
    REQUIRE(!place->begin());
    Load::Ticket& ticket = *place;
    // Some are answered at once, and some are not.
    ticket.wait([&begun, &worked_on, i, place = std::move(place)] {
      begun.push_back(i);
      if (i % 3 == 0) worked_on.push_back(place);
    });
  }
  CHECK(begun.empty());
  CHECK(enter(1)->begin());  // another need not wait
  while (begun.size() < waiting) {
    REQUIRE(!worked_on.empty());
    worked_on.front()->leave();
    worked_on.pop_front();
  }
  CHECK(std::is_sorted(begun.begin(), begun.end()));
  worked_on.clear();
  CHECK(load.under_way() == 0);
  CHECK(enter(often)->begin());
}

TEST_CASE("one network's requests, however many, leave places to others") {
  FakeClock clock;
  Load load(clock, {});
  std::vector<Load::Place> places;
  const auto caller = GENERATE(Load::Caller::stranger, Load::Caller::proven);
  const auto enter = [&](const char* network) { return load.enter({caller, network}, Load::Size::small); };
  for (int i = 0; i < limits::requests_under_way_max; ++i)
    if (auto place = enter("192.0.2.7"); place.ok()) places.push_back(std::move(*place));
  CHECK(static_cast<int>(places.size()) ==
        (caller == Load::Caller::stranger ? Load::strangers_of_network_max : Load::of_network_max));
  const auto refused = enter("192.0.2.7");
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "192.0.2.7"));
  CHECK(enter("192.0.2.8").ok());
  places.pop_back();
  CHECK(enter("192.0.2.7").ok());
}

namespace {

constexpr auto small = Load::Size::small;
constexpr auto large = Load::Size::large;
constexpr std::int64_t megabyte = 1 << 20;

// 2 requests and 1 MiB a second of a host, 8 and 4 of a network: 120 and 60, 480 and 240 at once.
service::Configuration narrow() {
  service::Configuration configuration;
  configuration.host_requests_per_second = 2;
  configuration.host_megabytes_per_second = 1;
  configuration.network_requests_per_second = 8;
  configuration.network_megabytes_per_second = 4;
  return configuration;
}

Load::Visitor host(std::int64_t number, const char* network, Load::Caller caller = Load::Caller::proven) {
  return {caller, network, HostId{number}};
}

// How many of so many requests, one after the other, found a place.
int served(Load& load, const Load::Visitor& who, int requests) {
  int count = 0;
  for (int i = 0; i < requests; ++i) count += load.enter(who, small).ok() ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE(
    "a host makes a minute's requests at once, then as many as come evenly, and takes none from another") {
  FakeClock clock;
  Load load(clock, narrow());
  CHECK(served(load, host(1, "192.0.2.7"), 1000) == 120);
  const auto refused = load.enter(host(1, "192.0.2.8"), small);  // also from elsewhere
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "requests"));
  CHECK(says(refused.error().message, "host"));
  CHECK(served(load, host(2, "192.0.2.7"), 100) == 100);
  clock.advance(std::chrono::seconds{5});
  CHECK(served(load, host(1, "192.0.2.7"), 1000) == 10);
  clock.advance(std::chrono::hours{1});
  CHECK(served(load, host(1, "192.0.2.7"), 1000) == 120);
  CHECK(load.refused() == 880 + 1 + 990 + 880);
}

TEST_CASE(
    "strangers of a network, however many, leave half of its requests to hosts there that have delivered") {
  FakeClock clock;
  Load load(clock, narrow());
  int of_strangers = 0;
  for (int i = 0; i < 100; ++i)
    of_strangers += served(load, host(100 + i, "192.0.2.7", Load::Caller::stranger), 10);
  CHECK(of_strangers == 240);
  const auto refused = load.enter({Load::Caller::stranger, "192.0.2.7"}, small);  // who has no token, too
  REQUIRE(!refused.ok());
  CHECK(says(refused.error().message, "192.0.2.7"));
  CHECK(served(load, host(1, "192.0.2.7"), 100) == 100);
  CHECK(served(load, host(1, "192.0.2.8", Load::Caller::stranger), 20) == 20);
  // All of what the network may: its hosts that have delivered are asked to come again, others are not.
  CHECK(served(load, host(2, "192.0.2.7"), 1000) == 120);
  CHECK(served(load, host(3, "192.0.2.7"), 1000) == 20);
  CHECK(served(load, host(4, "192.0.2.8"), 1000) == 120);
}

TEST_CASE("who has moved too many bytes moves no more for a while, and is heard meanwhile") {
  FakeClock clock;
  Load load(clock, narrow());
  const auto place = must(load.enter(host(1, "192.0.2.7"), large));
  place->account().take(60 * megabyte);
  CHECK(!load.owes(HostId{1}));
  place->account().take(10 * megabyte);
  CHECK(load.owes(HostId{1}));
  CHECK(!load.owes(HostId{2}));
  const auto refused = load.enter(host(1, "192.0.2.7"), large);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "bytes"));
  CHECK(load.enter(host(1, "192.0.2.7"), small).ok());
  CHECK(load.enter(host(2, "192.0.2.7"), large).ok());
  clock.advance(std::chrono::seconds{11});
  CHECK(!load.owes(HostId{1}));
  CHECK(load.enter(host(1, "192.0.2.7"), large).ok());
  // What did not go after all does not count.
  place->account().take(1000 * megabyte);
  CHECK(load.owes(HostId{1}));
  place->account().give_back(1000 * megabyte);
  CHECK(load.enter(host(1, "192.0.2.7"), large).ok());
}

TEST_CASE("bytes of a network are bounded for its strangers first") {
  FakeClock clock;
  Load load(clock, narrow());
  for (int i = 0; i < 3; ++i)
    must(load.enter(host(i, "192.0.2.7", Load::Caller::stranger), large))->account().take(50 * megabyte);
  CHECK(!load.enter(host(9, "192.0.2.7", Load::Caller::stranger), large).ok());
  CHECK(load.enter(host(9, "192.0.2.8", Load::Caller::stranger), large).ok());
  CHECK(load.enter(host(10, "192.0.2.7"), large).ok());
  for (int i = 11; i < 13; ++i) must(load.enter(host(i, "192.0.2.7"), large))->account().take(50 * megabyte);
  CHECK(!load.enter(host(20, "192.0.2.7"), large).ok());
  CHECK(load.enter(host(20, "192.0.2.7"), small).ok());
}

TEST_CASE("a flood from an administrator's own network does not keep it from ending that") {
  FakeClock clock;
  Load load(clock, narrow());
  CHECK(served(load, {Load::Caller::stranger, "192.0.2.7"}, 1000) == 240);
  const Load::Visitor administrator{Load::Caller::administrator, "192.0.2.7"};
  CHECK(served(load, administrator, 1000) == 1000);
  const auto place = must(load.enter(administrator, large));
  place->account().take(std::int64_t{1} << 40);
  CHECK(load.enter(administrator, large).ok());
  CHECK(load.enter(host(1, "192.0.2.7"), large).ok());
}

TEST_CASE("by default two hundred computers behind one address start at once and fetch what they need") {
  FakeClock clock;
  Load load(clock, {});
  for (int round = 0; round < 10;
       ++round) {  // of a second: each asks, delivers, reports and fetches a program
    for (int i = 0; i < 200; ++i) {
      const auto who = host(i, "192.0.2.7", Load::Caller::stranger);
      CHECK(served(load, who, 10) == 10);
      must(load.enter(who, large))->account().take(2 * megabyte);
    }
    clock.advance(std::chrono::seconds{1});
  }
  CHECK(load.refused() == 0);
}

TEST_CASE("a stranger has proven itself once something of it is accepted, also after a restart") {
  World world(Hosts::strangers);
  world.add_application();
  const TestHost host = world.add_host();
  const TestHost other = world.add_host("other");
  const auto caller = [&](const TestHost& of) {
    return must(world.service().enrolment().visitor(of.token, "192.0.2.7")).caller;
  };
  (void)world.add_problem(30);
  CHECK(caller(host) == Load::Caller::stranger);
  const auto grant = world.grants(host.id).front();
  CHECK(caller(host) == Load::Caller::stranger);
  const auto answer =
      must(world.commit(host.id, World::results(grant.unit, {grant.range.begin, grant.range.begin + 1})));
  REQUIRE(answer.status == protocol::CommitStatus::accepted);
  CHECK(caller(host) == Load::Caller::proven);
  CHECK(caller(other) == Load::Caller::stranger);
  world.restart();
  CHECK(caller(host) == Load::Caller::proven);
  CHECK(caller(other) == Load::Caller::stranger);
}

TEST_CASE("the project's own hosts are served from the beginning") {
  World world(Hosts::own);
  const TestHost host = world.add_host();
  const auto visitor = must(world.service().enrolment().visitor(host.token, "192.0.2.7"));
  CHECK(visitor.caller == Load::Caller::proven);
  CHECK(visitor.host == host.id);
  CHECK(visitor.network == "192.0.2.7");
  CHECK(!world.service().enrolment().visitor("nobody's", "192.0.2.7").ok());
}

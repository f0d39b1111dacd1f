// Who is served when more come than can be served.
#include "server/service/load.h"

#include <vector>

#include "shared/base/limits.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using service::Load;

TEST_CASE("strangers are asked to come again before hosts that have delivered are") {
  Load load;
  int network = 0;  // each has another one
  const auto enter = [&](Load::Caller caller) {
    return load.enter(caller, "2001:db8:" + std::to_string(++network) + "::");
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

TEST_CASE("one network's requests, however many, leave places to others") {
  Load load;
  std::vector<Load::Place> places;
  const auto caller = GENERATE(Load::Caller::stranger, Load::Caller::proven);
  for (int i = 0; i < limits::requests_under_way_max; ++i)
    if (auto place = load.enter(caller, "192.0.2.7"); place.ok()) places.push_back(std::move(*place));
  CHECK(static_cast<int>(places.size()) ==
        (caller == Load::Caller::stranger ? Load::strangers_of_network_max : Load::of_network_max));
  const auto refused = load.enter(caller, "192.0.2.7");
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "192.0.2.7"));
  CHECK(load.enter(caller, "192.0.2.8").ok());
  places.pop_back();
  CHECK(load.enter(caller, "192.0.2.7").ok());
}

TEST_CASE("a stranger has proven itself once something of it is accepted, also after a restart") {
  World world([](auto& configuration) { configuration.own_hosts = false; });
  world.add_application();
  const TestHost host = world.add_host();
  const TestHost other = world.add_host("other");
  const auto caller = [&](const TestHost& of) { return world.service().enrolment().caller(of.token); };
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
  World world([](auto& configuration) { configuration.own_hosts = true; });
  const TestHost host = world.add_host();
  CHECK(world.service().enrolment().caller(host.token) == Load::Caller::proven);
  CHECK(world.service().enrolment().caller("nobody's") == Load::Caller::stranger);
}

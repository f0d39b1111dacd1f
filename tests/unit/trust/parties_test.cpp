#include "server/policy/trust/parties.h"

#include "tests/catch.h"

using namespace gleaner;
using policy::Parties;

TEST_CASE("hosts of one network or of one owner's code are one party, and so is what these share") {
  Parties parties;
  parties.add(HostId{1}, "", "203.0.113.7");
  parties.add(HostId{2}, "", "203.0.113.8");
  parties.add(HostId{3}, "", "203.0.113.7");
  parties.add(HostId{4}, "ann", "203.0.113.9");
  parties.add(HostId{5}, "ann", "2001:db8:0:1::/64");
  parties.add(HostId{6}, "", "2001:db8:0:1::/64");
  CHECK(parties.party(HostId{1}) == parties.party(HostId{3}));
  CHECK(parties.party(HostId{1}) != parties.party(HostId{2}));
  CHECK(parties.party(HostId{4}) == parties.party(HostId{6}));
  CHECK(parties.members(parties.party(HostId{6})) == std::vector{HostId{4}, HostId{5}, HostId{6}});
  parties.add(HostId{5}, "ann", "203.0.113.7");  // it moved
  CHECK(parties.party(HostId{6}) == parties.party(HostId{3}));
  CHECK(parties.members(parties.party(HostId{2})) == std::vector{HostId{2}});
}

TEST_CASE(
    "who is not known stands for itself; hosts on the server's own machine, or behind a proxy there, are "
    "one") {
  Parties parties;
  parties.add(HostId{1}, "", "");
  parties.add(HostId{2}, "", "");
  for (const std::int64_t number : {1, 2, 3}) CHECK(parties.party(HostId{number}) == number);
  CHECK(parties.members(3) == std::vector{HostId{3}});
  for (const std::int64_t number : {4, 5}) parties.add(HostId{number}, "", "127.0.0.1");
  CHECK(parties.party(HostId{4}) == parties.party(HostId{5}));
}

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

TEST_CASE("who is not known, or seems to be on the server's own machine, stands for itself") {
  Parties parties;
  for (const std::int64_t number : {1, 2, 3}) parties.add(HostId{number}, "", "127.0.0.1");
  parties.add(HostId{4}, "", "::/64");
  parties.add(HostId{5}, "", "::/64");
  parties.add(HostId{6}, "", "");
  for (const std::int64_t number : {1, 2, 3, 4, 5, 6, 7}) CHECK(parties.party(HostId{number}) == number);
  CHECK(parties.members(7) == std::vector{HostId{7}});
}

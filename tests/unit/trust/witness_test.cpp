// Whose opinions count, and whose would add nothing.
#include "server/policy/trust/witness.h"

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

constexpr ApplicationId app{1}, other_app{2};
constexpr Timestamp now{};

struct Project {
  Reputation reputation;
  Parties parties;

  Project() {
    for (const std::int64_t host : {1, 2, 3, 4}) parties.add(HostId{host}, "", "203.0.113.7");
    parties.add(HostId{5}, "", "203.0.113.8");
    reputation.verified(HostId{3}, app, 20, now);
    reputation.set_own(HostId{4}, true);
  }
  [[nodiscard]] Witnesses witnesses(int quorum = 1, ApplicationId application = app) const {
    return {reputation, parties, application, quorum, now};
  }
};

}  // namespace

TEST_CASE("a newcomer speaks for its party, a known host and one of the project's own for itself") {
  const Project p;
  const Witnesses witnesses = p.witnesses();
  CHECK(!witnesses.of(HostId{1}).known);
  CHECK(witnesses.of(HostId{1}).party == witnesses.of(HostId{2}).party);
  CHECK(witnesses.of(HostId{3}).known);
  CHECK(!p.witnesses(1, other_app).of(HostId{3}).known);  // each application for itself
  CHECK(witnesses.of(HostId{4}).known);
  CHECK(witnesses.of(HostId{4}).own);
  CHECK(witnesses.of(HostId{5}).party != witnesses.of(HostId{1}).party);
  CHECK(!p.witnesses(2).of(HostId{3}).known);  // a quorum counts parties
}

TEST_CASE("nobody is asked who would add nothing") {
  const Project p;
  using Hosts = std::vector<HostId>;
  CHECK(p.witnesses().partners({HostId{1}}) == Hosts{HostId{2}});
  CHECK(p.witnesses().partners({HostId{3}}) == Hosts{HostId{1}, HostId{2}});
  CHECK(p.witnesses().partners({HostId{5}}).empty());
  CHECK(p.witnesses(2).partners({HostId{1}}) == Hosts{HostId{2}, HostId{3}});
  CHECK(p.witnesses(1, other_app).partners({HostId{1}, HostId{5}}) == Hosts{HostId{2}, HostId{3}});
}

TEST_CASE("parties of those who are here") {
  const Project p;
  CHECK(p.witnesses().parties_of({}) == 0);
  CHECK(p.witnesses().parties_of({HostId{1}, HostId{2}}) == 1);
  CHECK(p.witnesses().parties_of({HostId{1}, HostId{2}, HostId{5}}) == 2);
  CHECK(p.witnesses().parties_of({HostId{1}, HostId{3}}) == 1);
  CHECK(p.witnesses().parties_of({HostId{3}, HostId{4}}) == 2);
  CHECK(p.witnesses(2).parties_of({HostId{3}, HostId{1}}) == 1);
}

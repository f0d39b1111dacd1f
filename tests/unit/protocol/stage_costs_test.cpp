#include "shared/protocol/stage_costs.h"

#include <limits>

#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::protocol;

TEST_CASE("costs of items are little-endian doubles") {
  const std::vector<double> costs{1, .1, 1e12};
  const Bytes bytes = pack_costs(costs);
  CHECK(bytes.substr(0, 8) == Bytes("\0\0\0\0\0\0\xf0\x3f", 8));
  CHECK(unpack_costs(bytes).value() == costs);
}

TEST_CASE("what is no list of costs is refused") {
  const auto refused = [](const Bytes& bytes) { return unpack_costs(bytes).error().kind; };
  CHECK(refused("") == ErrorKind::invalid);
  CHECK(refused(Bytes(7, '\0')) == ErrorKind::invalid);
  const std::vector<double> many(static_cast<std::size_t>(costs_per_reply_max), 2);
  CHECK(unpack_costs(pack_costs(many)).value() == many);
  CHECK(refused(pack_costs(many) + pack_costs(std::vector<double>{2})) == ErrorKind::invalid);
  for (const double cost :
       {0., -1., std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    INFO(cost);
    CHECK(refused(pack_costs(std::vector<double>{3, cost})) == ErrorKind::invalid);
  }
  CHECK(unpack_costs(pack_costs(std::vector<double>{3, -1})).error().message ==
        "cost 2: expected a number above 0, got -1.000000");
}

#include "server/service/core/live_outputs.h"

#include "tests/catch.h"

namespace gleaner::service {
namespace {
using namespace std::chrono_literals;

constexpr Timestamp noon{std::chrono::hours{24 * 365 * 56 + 12}};

TEST_CASE("output is wanted for as long as somebody goes on asking") {
  LiveOutputs outputs;
  const UnitId unit{7};
  CHECK_FALSE(outputs.wanted(unit, noon));
  outputs.put(unit, "nobody asked", noon);
  CHECK(outputs.look(unit, noon).at == Timestamp{});
  CHECK(outputs.wanted(unit, noon + 29s));
  CHECK_FALSE(outputs.wanted(unit, noon + 30s));
  CHECK_FALSE(outputs.wanted(unit, noon - 1h));  // the clock was set back
  outputs.put(unit, "hello", noon + 3s);
  CHECK(outputs.look(unit, noon + 20s).text == "hello");
  CHECK(outputs.wanted(unit, noon + 49s));
}

TEST_CASE("of too many units the one that nobody has looked at for longest makes room") {
  LiveOutputs outputs;
  constexpr auto more = static_cast<std::int64_t>(LiveOutputs::units_max) + 1;
  for (std::int64_t id = 1; id <= more; ++id)
    (void)outputs.look(UnitId{id}, noon + std::chrono::milliseconds{id});
  CHECK_FALSE(outputs.wanted(UnitId{1}, noon + 1s));
  CHECK(outputs.wanted(UnitId{2}, noon + 1s));
  CHECK(outputs.wanted(UnitId{more}, noon + 1s));
}

}  // namespace
}  // namespace gleaner::service

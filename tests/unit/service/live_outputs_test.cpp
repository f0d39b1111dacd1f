#include "server/service/core/live_outputs.h"

#include "tests/catch.h"

namespace gleaner::service {
namespace {
using namespace std::chrono_literals;

constexpr Timestamp looked_at{std::chrono::hours{24 * 365 * 56 + 12}};

TEST_CASE("output is wanted for as long as somebody goes on asking") {
  LiveOutputs outputs;
  const UnitId unit{7};
  CHECK_FALSE(outputs.wanted(unit, looked_at));
  outputs.put(unit, "nobody asked", looked_at);
  CHECK(outputs.look(unit, looked_at).at == Timestamp{});
  CHECK(outputs.wanted(unit, looked_at + 29s));
  CHECK_FALSE(outputs.wanted(unit, looked_at + 30s));
  CHECK_FALSE(outputs.wanted(unit, looked_at - 1h));  // the clock was set back
  outputs.put(unit, "hello", looked_at + 3s);
  CHECK(outputs.look(unit, looked_at + 20s).text == "hello");
  CHECK(outputs.wanted(unit, looked_at + 49s));
}

TEST_CASE("of too many units the one that nobody has looked at for longest makes room") {
  LiveOutputs outputs;
  constexpr auto more = static_cast<std::int64_t>(LiveOutputs::units_max) + 1;
  for (std::int64_t id = 1; id <= more; ++id)
    (void)outputs.look(UnitId{id}, looked_at + std::chrono::milliseconds{id});
  CHECK_FALSE(outputs.wanted(UnitId{1}, looked_at + 1s));
  CHECK(outputs.wanted(UnitId{2}, looked_at + 1s));
  CHECK(outputs.wanted(UnitId{more}, looked_at + 1s));
}

}  // namespace
}  // namespace gleaner::service

#include "apps/kit/portable_math.h"

#include <cmath>
#include <limits>

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::kit {
namespace {

double relative_error(double value, double exact) {
  return exact == 0 ? std::abs(value) : std::abs(value - exact) / std::abs(exact);
}

}  // namespace

TEST_CASE("The portable functions agree with the C library's to about 1e-15") {
  const std::uint64_t seed = 4711;
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 20000; ++i) {
    const double x = std::ldexp(1 + random.uniform(), static_cast<int>(random.between(-1000, 1000)));
    REQUIRE(relative_error(portable_log(x), std::log(x)) < 2e-15);
    const double near_one = 1 + (random.uniform() - 0.5) * 0.01;
    REQUIRE(std::abs(portable_log(near_one) - std::log(near_one)) < 2e-17);
    const double power = (random.uniform() - 0.5) * 1400;
    REQUIRE(relative_error(portable_exp(power), std::exp(power)) < 1e-15);
    const double angle = (random.uniform() - 0.5) * 2000;
    REQUIRE(std::abs(portable_sin(angle) - std::sin(angle)) < 1e-15);
    REQUIRE(std::abs(portable_cos(angle) - std::cos(angle)) < 1e-15);
    const double base = random.uniform() * 100;
    REQUIRE(relative_error(portable_pow(base, 1 / 2.4), std::pow(base, 1 / 2.4)) < 5e-15);
  }
}

TEST_CASE("The portable functions are right at the edges") {
  CHECK(portable_log(1) == 0);
  CHECK(portable_exp(0) == 1);
  CHECK(portable_exp(-1000) == 0);
  CHECK(std::isinf(portable_exp(1000)));
  CHECK(portable_exp(-744) == std::exp(-744.0));  // subnormal
  CHECK(relative_error(portable_log(5e-324), std::log(5e-324)) < 1e-15);
  CHECK(relative_error(portable_log(std::numeric_limits<double>::max()), 709.782712893384) < 1e-15);
  CHECK(portable_sin(0) == 0);
  CHECK(portable_cos(0) == 1);
  CHECK(portable_pow(0, 2) == 0);
  CHECK(portable_pow(1, 0.3) == 1);
}

}  // namespace gleaner::kit

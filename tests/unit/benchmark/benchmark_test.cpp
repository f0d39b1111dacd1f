#include "client/benchmark/benchmark.h"

#include "tests/catch.h"

namespace gleaner::benchmark {
namespace {

TEST_CASE("The benchmark solves its systems and measures something") {
  const auto result = run_linpack(200, 3);
  REQUIRE(result.ok());
  CHECK(result->mflops > 1);
  CHECK(result->residual < 16);
}

TEST_CASE("All cores at once and memory are measured, too") {
  const auto together = run_linpack_on_all(2, 200, 2);
  REQUIRE(together.ok());
  CHECK(*together > 1);
  CHECK(run_triad(1 << 16) > 1e6);
}

}  // namespace
}  // namespace gleaner::benchmark

#include "shared/base/result.h"

#include "tests/catch.h"

using namespace gleaner;

namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{ErrorKind::invalid, "odd"};
  return n / 2;
}

Result<int> quarter(int n) {
  TRY_ASSIGN(const int once, half(n));
  TRY_ASSIGN(const int twice, half(once));
  return twice;
}

Status even(int n) {
  TRY(half(n));
  return {};
}

}  // namespace

TEST_CASE("errors travel as values") {
  CHECK(quarter(8).value() == 2);
  CHECK(quarter(6).error().message == "odd");
  CHECK(even(2).ok());
  CHECK(even(3).error().kind == ErrorKind::invalid);
  CHECK(even(3).error().within("checking 3").message == "checking 3: odd");
}

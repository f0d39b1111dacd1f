#include "tools/admin/problem_views.h"

#include "tests/catch.h"

namespace gleaner::admin {
namespace {

using Catch::Matchers::Contains;

constexpr Timestamp noon{std::chrono::hours{12}};

protocol::ErrorGroup an_error() {
  protocol::ErrorGroup error;
  error.problem = ProblemId{3};
  error.problem_name = "primes";
  error.application = "primes@1.0.0";
  error.kind = "kernel-error";
  error.words = "ValueError: 7 is no colour";
  error.message =
      "Traceback (most recent call last):\n  File \"kernel.py\", line 9\nValueError: 7 is no colour\n";
  error.times = 10;
  error.hosts = 2;
  error.first_at = error.last_at = noon;
  return error;
}

}  // namespace

TEST_CASE("an error is a sentence in a table, and its traceback comes on demand, line by line") {
  const std::string table = error_text({an_error()}, ErrorDetail::sentence, {});
  CHECK_THAT(table, Contains("ValueError: 7 is no colour") && !Contains("Traceback"));
  CHECK_THAT(table, Contains("10") && Contains("primes") && Contains("12:00:00"));
  const std::string all = error_text({an_error()}, ErrorDetail::all, {});
  CHECK(all.starts_with("ValueError: 7 is no colour\n"));
  CHECK_THAT(all, Contains("10 times on 2 hosts") && Contains("\n  | Traceback (most recent call last):\n"));
  protocol::ErrorGroup old = an_error();
  old.words = {};  // of a server that does not tell
  CHECK_THAT(error_text({old}, ErrorDetail::sentence, {}), Contains("ValueError: 7 is no colour"));
  old.message = {};
  CHECK_THAT(error_text({old}, ErrorDetail::sentence, {}), Contains("kernel-error"));
}

TEST_CASE("a problem is shown with its errors once each, apart from what is set aside") {
  protocol::ProblemInfo problem;
  problem.id = ProblemId{3};
  problem.set_aside = {{UnitId{}, {7, 8}, "set aside; last: Traceback\nValueError: 7 is no colour"}};
  for (int i = 1; i <= 10; ++i) problem.set_aside.push_back({UnitId{i}, {7, 8}, "Traceback\nValueError"});
  problem.errors = {an_error()};
  const std::string text = problem_text(problem, {});
  CHECK_THAT(text, !Contains("Traceback") && Contains("items 7"));
  const auto first = text.find("ValueError", text.find("ERROR"));
  REQUIRE(first != std::string::npos);
  CHECK(text.find("ValueError", first + 1) == std::string::npos);
  CHECK_THAT(text, Contains("gleaner-admin problem errors 3 --full"));
  problem.shares.resize(2);
  CHECK_THAT(problem_text(problem, {}), !Contains("these did most"));
  problem.shares_total = 12'345;
  CHECK_THAT(problem_text(problem, {}), Contains("these did most of 12,345 hosts"));
}

TEST_CASE("days are shown with core-hours, and with energy where it is known") {
  const auto day = Timestamp{std::chrono::days{20'000}};
  const std::string text =
      day_table({{day, 12.345, 0, 1234}, {day + std::chrono::days{1}, 1, 0.5, 9}}).render({});
  CHECK_THAT(text, Contains("2024-10-04") && Contains("12.3 ") && Contains("1,234"));
  CHECK_THAT(text, Contains("2024-10-05") && Contains("0.5 "));
}

}  // namespace gleaner::admin

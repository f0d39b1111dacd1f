#include "client/benchmark/benchmark.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "shared/base/random.h"

namespace gleaner::benchmark {
namespace {

double thread_cpu_seconds() {
  timespec time{};
  CHECK_TRUE(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Column-major, as the original: the inner loop of the factorisation runs down a column.
struct System {
  explicit System(int size, std::uint64_t seed) : n(static_cast<std::size_t>(size)), a(n * n), b(n, 0) {
    Random random(seed);
    for (double& value : a) value = random.uniform() - 0.5;
    for (std::size_t column = 0; column < n; ++column)
      for (std::size_t row = 0; row < n; ++row) b[row] += a[column * n + row];
  }
  std::size_t n;
  std::vector<double> a;
  std::vector<double> b;
};

void subtract_multiple(double* to, const double* from, double factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] -= factor * from[i];
}

// Solves in place: the solution is left in b.
void solve(System& system) {
  const std::size_t n = system.n;
  double* const a = system.a.data();
  double* const b = system.b.data();
  for (std::size_t k = 0; k < n; ++k) {
    double* const column = a + k * n;
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::fabs(column[i]) > std::fabs(column[pivot])) pivot = i;
    std::swap(column[k], column[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) column[i] /= column[k];
    for (std::size_t j = k + 1; j < n; ++j) {
      double* const other = a + j * n;
      std::swap(other[k], other[pivot]);
      subtract_multiple(other + k + 1, column + k + 1, other[k], n - k - 1);
    }
    subtract_multiple(b + k + 1, column + k + 1, b[k], n - k - 1);
  }
  for (std::size_t k = n; k-- > 0;) {
    b[k] /= a[k * n + k];
    subtract_multiple(b, a + k * n, b[k], k);
  }
}

double residual_of(const System& original, const std::vector<double>& solution) {
  const std::size_t n = original.n;
  std::vector<double> rest = original.b;
  double norm_a = 0;
  double norm_x = 0;
  for (std::size_t column = 0; column < n; ++column) {
    subtract_multiple(rest.data(), original.a.data() + column * n, solution[column], n);
    norm_x = std::max(norm_x, std::fabs(solution[column]));
    for (std::size_t row = 0; row < n; ++row)
      norm_a = std::max(norm_a, std::fabs(original.a[column * n + row]));
  }
  double norm_rest = 0;
  for (const double value : rest) norm_rest = std::max(norm_rest, std::fabs(value));
  return norm_rest / (static_cast<double>(n) * norm_a * norm_x * std::numeric_limits<double>::epsilon());
}

double operations_of(int equations) {
  const double n = equations;
  return 2.0 / 3.0 * n * n * n + 2.0 * n * n;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Result<LinpackResult> run_linpack(int equations, int runs) {
  CHECK_TRUE(equations > 0 && runs > 0);
  constexpr double residual_max = 16;
  LinpackResult result;
  std::vector<double> rates;
  for (int run = 0; run < runs; ++run) {
    const System original(equations, static_cast<std::uint64_t>(run) + 1);
    System work = original;
    const double start = thread_cpu_seconds();
    solve(work);
    const double seconds = std::max(thread_cpu_seconds() - start, 1e-9);
    rates.push_back(operations_of(equations) / seconds / 1e6);
    const double residual = residual_of(original, work.b);
    if (!(residual <= residual_max))
      return Error{ErrorKind::internal, "this machine computes wrongly: the benchmark's residual is " +
                                            std::to_string(residual) +
                                            " (at most 16 is sound): check its memory"};
    result.residual = std::max(result.residual, residual);
  }
  std::nth_element(rates.begin(), rates.begin() + runs / 2, rates.end());
  result.mflops = rates[static_cast<std::size_t>(runs / 2)];
  return result;
}

Result<double> run_linpack_on_all(int cores, int equations, int runs) {
  CHECK_TRUE(cores > 0);
  std::vector<Result<LinpackResult>> results(static_cast<std::size_t>(cores), LinpackResult{});
  const double start = wall_seconds();
  {
    std::vector<std::jthread> threads;  // not a pool: what counts is that all work at the same time
    for (Result<LinpackResult>& result : results)
      threads.emplace_back([&result, equations, runs] { result = run_linpack(equations, runs); });
  }
  const double seconds = std::max(wall_seconds() - start, 1e-9);
  for (const Result<LinpackResult>& result : results)
    if (!result.ok()) return result.error();
  return cores * runs * operations_of(equations) / seconds / 1e6;
}

double run_triad(std::size_t bytes) {
  constexpr int passes = 5;
  const std::size_t count = std::max<std::size_t>(bytes / sizeof(double), 1);
  std::vector<double> a(count, 0), b(count, 1), c(count, 2);
  double best = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const double start = wall_seconds();
    for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + 3.0 * c[i];
    best = std::max(
        best, 3.0 * sizeof(double) * static_cast<double>(count) / std::max(wall_seconds() - start, 1e-9));
    std::swap(a, b);
  }
  CHECK_TRUE(b[0] != 0);  // so that the loop is not left out
  return best;
}

}  // namespace gleaner::benchmark

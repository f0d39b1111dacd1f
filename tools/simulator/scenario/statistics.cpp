#include "tools/simulator/scenario/statistics.h"

#include <cmath>
#include <iterator>
#include <numeric>

#include "shared/base/check.h"

namespace gleaner::simulator {

double student_t(int degrees) {
  static constexpr double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                     2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                     2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  CHECK_TRUE(degrees >= 1);
  if (degrees <= static_cast<int>(std::size(table))) return table[degrees - 1];
  // Cornish and Fisher's expansion around the normal quantile, right to 3 digits from 30 on.
  const double z = 1.959964, n = degrees;
  return z + (z * z * z + z) / (4 * n) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

Mean mean_of(const std::vector<double>& values) {
  CHECK_TRUE(!values.empty());
  const auto count = static_cast<double>(values.size());
  Mean result;
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  result.half = student_t(static_cast<int>(values.size()) - 1) * std::sqrt(squares / (count - 1) / count);
  return result;
}

}  // namespace gleaner::simulator

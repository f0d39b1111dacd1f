#include "server/policy/estimation/clamps.h"

#include <algorithm>
#include <cmath>

namespace gleaner::policy {

double clamped_seconds(double seconds) {
  return std::isnan(seconds) ? least_seconds : std::max(seconds, least_seconds);
}

double clamped_error(double error) {
  return std::isnan(error) ? unknown_error : std::clamp(error, least_error, largest_error);
}

double computation_to_communication(double computation, double communication) {
  return clamped_seconds(computation) / clamped_seconds(communication);
}

double error_weight(double error, double computation, double communication) {
  return clamped_error(error) * clamped_seconds(communication) / clamped_seconds(computation);
}

}  // namespace gleaner::policy

#include "client/view/given.h"

#include <fmt/format.h>

namespace gleaner::view {
namespace {

std::string amount(std::int64_t core_seconds) {
  const double hours = static_cast<double>(core_seconds) / 3600;
  if (core_seconds == 0) return "nothing";
  if (hours < 0.95) return fmt::format("{:.0f} core-minutes", hours * 60);
  return hours < 9.95 ? fmt::format("{:.1f} core-hours", hours) : fmt::format("{:.0f} core-hours", hours);
}

}  // namespace

std::string text_of(const Given& given) {
  return amount(given.today) + " today, " + amount(given.week) + " in the last 7 days, " +
         amount(given.year) + " in the last year";
}

}  // namespace gleaner::view

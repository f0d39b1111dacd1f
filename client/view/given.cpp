#include "client/view/given.h"

#include "shared/base/figures.h"

namespace gleaner::view {
namespace {

std::string amount(std::int64_t core_seconds) {
  const double hours = static_cast<double>(core_seconds) / 3600;
  if (core_seconds == 0) return "nothing";
  if (hours < 1) return duration_text(static_cast<double>(core_seconds)) + " of a core";
  return figure_text(hours) + " core-hours";
}

}  // namespace

std::string text_of(const Given& given) {
  return amount(given.today) + " today, " + amount(given.week) + " in the last 7 days, " +
         amount(given.year) + " in the last year";
}

}  // namespace gleaner::view

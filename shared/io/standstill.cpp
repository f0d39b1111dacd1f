#include "shared/io/standstill.h"

#include <algorithm>
#include <cmath>

namespace gleaner::io {

Standstill::Verdict Standstill::look(Duration used) {
  const Duration late = std::min(late_, used);
  late_ -= late;
  used -= late;
  if (used <= noise_max) return late > noise_max ? Verdict::stop_again : Verdict::still;
  taken_ += used;
  return taken_ >= taken_max ? Verdict::end : Verdict::stop_again;
}

void Standstill::ran(Duration elapsed) {
  constexpr int part = 50;
  taken_ = std::max(Duration{0}, taken_ - elapsed / part);
}

std::string Standstill::words() const {
  const auto tenths = std::llround(10 * to_seconds(taken_));
  return "used " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) +
         " s of processor time while it was paused";
}

}  // namespace gleaner::io

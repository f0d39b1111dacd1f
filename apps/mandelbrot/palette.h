// Colours of escape counts. Points that never escape are black.
#pragma once

#include "apps/mandelbrot/mandelbrot.h"

namespace gleaner::mandelbrot {

class Palette {
 public:
  explicit Palette(const Settings& settings) : settings_(settings) {}
  // Appends red, green, blue.
  void append(Bytes& rgb, const Escape& escape) const;

 private:
  Settings settings_;
};

}  // namespace gleaner::mandelbrot

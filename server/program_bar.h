// How far something is, for who watches it on a terminal. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

#include "shared/terminal/print.h"

namespace gleaner::server {

// A line of standard error, drawn over itself ten times a second at most.
class Bar {
 public:
  // `words()`: what stands behind the bar.
  template <typename Words>
  void draw(std::int64_t done, std::int64_t all, Words words) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds{100}) return;
    last_ = now;
    drawn_ = true;
    constexpr int columns = 32;
    const auto filled = static_cast<int>(all > 0 ? columns * done / all : columns);
    terminal::write(stderr, terminal::Control{"\r"});
    terminal::print(stderr, "[{:#<{}}{:.<{}}] {}", "", filled, "", columns - filled, words());
    std::fflush(stderr);
  }
  void clear() {
    if (drawn_) terminal::write(stderr, terminal::Control{"\r\x1b[2K"});
  }

 private:
  std::chrono::steady_clock::time_point last_{};
  bool drawn_ = false;
};

}  // namespace gleaner::server

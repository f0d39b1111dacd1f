// A file descriptor with an owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace gleaner::io {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }

  [[nodiscard]] int get() const { return number_; }
  // From now on the caller's to close.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  [[nodiscard]] bool valid() const { return number_ >= 0; }
  // Closes it; what close() reports is of no use to readers, and writers sync first.
  void reset() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace gleaner::io

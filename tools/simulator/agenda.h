// What happens next: every host's next own event in a heap with one place a host, so that nothing outdated is
// ever kept. Ties go to the lower host. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace gleaner::simulator {

class Agenda {
 public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  explicit Agenda(std::size_t hosts);
  [[nodiscard]] double time() const { return times_[heap_.front()]; }  // of the first; never: nothing is due
  [[nodiscard]] std::size_t host() const { return heap_.front(); }
  [[nodiscard]] std::size_t host_after() const {  // of the next but one
    if (heap_.size() < 3) return heap_.back();
    return before(heap_[2], heap_[1]) ? heap_[2] : heap_[1];
  }
  void set(std::size_t host, double time);

 private:
  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const {
    return times_[a] != times_[b] ? times_[a] < times_[b] : a < b;
  }
  void put(std::size_t place, std::uint32_t host) {
    heap_[place] = host;
    places_[host] = static_cast<std::uint32_t>(place);
  }

  std::vector<double> times_;
  std::vector<std::uint32_t> heap_, places_;
};

}  // namespace gleaner::simulator

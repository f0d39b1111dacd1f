// Distances between cities as whole numbers, row by row. Value type; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::tsp {

inline constexpr int cities_max = 40;
// Sums of 180 tours of 20 cities fit 32 bits (visitor.h adds that many before it widens).
inline constexpr std::int32_t distance_max = 1'000'000;

class Matrix {
 public:
  Matrix() = default;
  explicit Matrix(int cities)
      : cities_(cities), distances_(static_cast<std::size_t>(cities) * static_cast<std::size_t>(cities)) {}

  [[nodiscard]] int cities() const { return cities_; }
  [[nodiscard]] std::int32_t at(int from, int to) const { return distances_[place(from, to)]; }
  void set(int from, int to, std::int32_t distance) { distances_[place(from, to)] = distance; }
  [[nodiscard]] bool symmetric() const;
  // Of a closed tour.
  [[nodiscard]] std::int64_t length(const std::vector<int>& tour) const;
  // Does it begin at city 0 and visit each once?
  [[nodiscard]] bool is_tour(const std::vector<int>& tour) const;

  // Number of cities, then the distances, 4 bytes each.
  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] static Result<Matrix> from_bytes(std::string_view bytes);

 private:
  [[nodiscard]] std::size_t place(int from, int to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(cities_) + static_cast<std::size_t>(to);
  }
  int cities_ = 0;
  std::vector<std::int32_t> distances_;
};

}  // namespace gleaner::tsp

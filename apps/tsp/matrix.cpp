#include "apps/tsp/matrix.h"

#include "apps/kit/packing.h"

namespace gleaner::tsp {

bool Matrix::symmetric() const {
  for (int i = 0; i < cities_; ++i) {
    for (int j = 0; j < i; ++j) {
      if (at(i, j) != at(j, i)) return false;
    }
  }
  return true;
}

std::int64_t Matrix::length(const std::vector<int>& tour) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < tour.size(); ++i) sum += at(tour[i], tour[(i + 1) % tour.size()]);
  return tour.size() > 1 ? sum : 0;
}

bool Matrix::is_tour(const std::vector<int>& tour) const {
  if (static_cast<int>(tour.size()) != cities_ || tour.empty() || tour.front() != 0) return false;
  std::vector<bool> seen(tour.size());
  for (const int city : tour) {
    if (city < 0 || city >= cities_ || seen[static_cast<std::size_t>(city)]) return false;
    seen[static_cast<std::size_t>(city)] = true;
  }
  return true;
}

Bytes Matrix::bytes() const {
  Bytes bytes;
  kit::pack(bytes, static_cast<std::int32_t>(cities_));
  for (const std::int32_t distance : distances_) kit::pack(bytes, distance);
  return bytes;
}

Result<Matrix> Matrix::from_bytes(std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  const auto cities = unpacker.get<std::int32_t>();
  if (cities < 1 || cities > cities_max) return Error{ErrorKind::invalid, "the matrix has a wrong size"};
  Matrix matrix(cities);
  for (std::int32_t& distance : matrix.distances_) {
    distance = unpacker.get<std::int32_t>();
    if (distance < 0 || distance > distance_max)
      return Error{ErrorKind::invalid, "the matrix has a distance out of bounds"};
  }
  if (!unpacker.complete()) return Error{ErrorKind::invalid, "the matrix is cut short or too long"};
  return matrix;
}

}  // namespace gleaner::tsp

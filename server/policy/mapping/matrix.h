// A dense table of numbers, one row a task and one column a host. Value type, not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace gleaner::policy {

class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns, double value = 0)
      : rows_(rows), columns_(columns), values_(rows * columns, value) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  // REQUIRES: row < rows() and column < columns().
  [[nodiscard]] double& operator()(std::size_t row, std::size_t column) {
    return values_[row * columns_ + column];
  }
  [[nodiscard]] double operator()(std::size_t row, std::size_t column) const {
    return values_[row * columns_ + column];
  }
  [[nodiscard]] std::span<const double> row(std::size_t row) const {
    return std::span(values_).subspan(row * columns_, columns_);
  }

 private:
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::vector<double> values_;
};

}  // namespace gleaner::policy

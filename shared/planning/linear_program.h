// Linear programs, solved by GLPK's simplex method: minimise (or maximise) a weighted sum of non-negative
// columns under linear rows. One program a thread at a time; prints nothing. The only place that knows GLPK.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::planning {

struct Term {
  std::size_t column = 0;
  double factor = 0;
};

class LinearProgram {
 public:
  enum class Goal { minimise, maximise };
  explicit LinearProgram(Goal goal) : goal_(goal) {}

  // A variable from 0 to `most`, with its weight in the goal.
  std::size_t add_column(double weight, double most = std::numeric_limits<double>::infinity());
  // sum <= most; sum = value.
  void add_at_most(std::vector<Term> sum, double most);
  void add_equal(std::vector<Term> sum, double value);
  void set_weight(std::size_t column, double weight) { columns_[column].weight = weight; }
  [[nodiscard]] std::size_t columns() const { return columns_.size(); }

  struct Solution {
    double value = 0;
    std::vector<double> columns;
  };
  // Errors: internal if there is no optimum, which a well-made program has.
  [[nodiscard]] Result<Solution> solve() const;

 private:
  struct Column {
    double weight = 0, most = 0;
  };
  struct Row {
    std::vector<Term> sum;
    double bound = 0;
    bool equal = false;
  };
  Goal goal_;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace gleaner::planning

// The distinguished points that have come in, and what two of them tell. Points last in a file, which grows
// by whole records; one that is cut short by a crash is dropped. Not thread-safe.
#pragma once

#include <filesystem>
#include <optional>
#include <unordered_map>
#include <vector>

#include "apps/dlog/walk.h"

namespace gleaner::dlog {

class Collisions {
 public:
  // Reads the points of the file, if it is there. `file` may be empty: nothing is kept then.
  Collisions(const Group& group, std::filesystem::path file);
  // io if the file cannot be written. A point that is there already changes nothing.
  [[nodiscard]] Status add(const std::vector<Point>& points);
  // x with g^x = y, checked.
  [[nodiscard]] const std::optional<mpz_class>& solution() const { return solution_; }
  [[nodiscard]] std::int64_t points() const { return static_cast<std::int64_t>(places_.size()); }

 private:
  void take(std::string_view record, bool fresh, Bytes& appended);

  Group group_;
  std::filesystem::path file_;
  std::size_t record_bytes_;
  Bytes records_;                                               // element, a, b
  std::unordered_multimap<std::uint64_t, std::size_t> places_;  // by the element's first limb
  std::optional<mpz_class> solution_;
};

// g^a y^b is the element that the point says, in Montgomery form.
[[nodiscard]] bool is_right(const Group& group, const Point& point);

}  // namespace gleaner::dlog

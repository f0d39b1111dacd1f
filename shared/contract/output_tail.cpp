#include "shared/contract/output_tail.h"

#include <algorithm>

#include "shared/base/limits.h"

namespace gleaner::contract {

void OutputTail::add_log(std::string_view line) {
  if (!text_.empty() && text_.back() != '\n') text_ += '\n';
  text_ += line;
  text_ += '\n';
  cut();
}

void OutputTail::add_errors(std::string_view tail, std::int64_t total) {
  const auto fresh = static_cast<std::size_t>(std::max<std::int64_t>(0, total - errors_));
  errors_ = std::max(errors_, total);
  text_ += tail.substr(tail.size() - std::min(fresh, tail.size()));
  cut();
}

// Not at each byte more.
void OutputTail::cut() {
  if (text_.size() > limits::output_bytes_max)
    text_.erase(0, text_.size() - limits::output_bytes_max * 3 / 4);
}

}  // namespace gleaner::contract

#include "shared/contract/output_tail.h"

#include <algorithm>

#include "shared/base/limits.h"

namespace gleaner::contract {

// It cuts more than it has to, so that not every piece moves all that is kept.
void OutputTail::add(std::string_view errors) {
  constexpr std::size_t most = limits::output_bytes_max, after_cut = most * 3 / 4;
  if (errors.size() > most) errors.remove_prefix(errors.size() - most);
  if (text_.size() + errors.size() > most) {
    const std::size_t kept = errors.size() < after_cut ? after_cut - errors.size() : 0;
    text_.erase(0, text_.size() - std::min(text_.size(), kept));
  }
  text_ += errors;
}

void OutputTail::add_log(std::string_view line) {
  std::string whole = text_.empty() || text_.back() == '\n' ? "" : "\n";
  add(whole.append(line) + "\n");
}

}  // namespace gleaner::contract

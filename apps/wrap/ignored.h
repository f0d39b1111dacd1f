// Parts of a program's output that differ between equal runs, such as a date. The kernel removes them before
// it delivers, so that results of equal items have equal bytes. Rules, as the manifest has them:
//
//   png               chunks of a PNG with times and texts: tIME, tEXt, zTXt, iTXt, eXIf
//   gzip              the time in the header of a gzip file (becomes 0)
//   tar               times and owners of a tar archive's entries (become 0, or empty)
//   lines=EXPRESSION  lines of at most 1000 bytes in which an ECMAScript expression finds something
//
// A rule for a format leaves other files as they are, and damaged ones from the damage on. Immutable,
// thread-safe. Errors: invalid.
#pragma once

#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::wrap {

class Ignored {
 public:
  Ignored() = default;
  [[nodiscard]] static Result<Ignored> parse(const std::vector<std::string>& rules);
  [[nodiscard]] Bytes remove_from(Bytes file) const;

 private:
  bool png_ = false, gzip_ = false, tar_ = false;
  std::vector<std::regex> lines_;
};

// Rules by which two outputs of equal runs become equal; empty: none are known. They remove what looks like
// a date or a time, and none of the numbers (a name, and the expression that finds it).
[[nodiscard]] std::vector<std::string> proposed_rules(
    const Bytes& one, const Bytes& other,
    const std::vector<std::pair<std::string, std::string>>& numbers = {});

}  // namespace gleaner::wrap

// What a manager answers, line by line: pure but for the look at the files it names. Everything is checked; a
// fault is reported as text that says what was expected. Internal to this module.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "shared/contract/manager_session.h"

namespace gleaner::contract {

// What a line amounts to: an end, the wish for more lines, or a fault ("expected ...").
enum class Heard { more, progress, end };
struct Fault {
  std::string expected;
};
using Hearing = std::variant<Heard, Fault>;

// The answer to `plan`.
class PlanAnswer {
 public:
  explicit PlanAnswer(io::Path work) : work_(std::move(work)) {}
  [[nodiscard]] Hearing take(std::string_view line);
  [[nodiscard]] StagePlan& plan() { return plan_; }

 private:
  Hearing take_input(std::string_view words);
  io::Path work_;
  StagePlan plan_;
};

// The answer to `combine` and `preview`.
class CombineAnswer {
 public:
  explicit CombineAnswer(io::Path work) : work_(std::move(work)) {}
  [[nodiscard]] Hearing take(std::string_view line);
  [[nodiscard]] double fraction() const { return fraction_; }
  [[nodiscard]] std::vector<CombinedFile>& files() { return files_; }

 private:
  Hearing take_result(std::string_view words);
  io::Path work_;
  double fraction_ = 0;
  std::vector<CombinedFile> files_;
};

// A name that can be a file's name anywhere: no directories, no blanks, no control characters.
[[nodiscard]] bool is_file_name(std::string_view name);
// The absolute path of a file that is in `work` (symbolic links resolved); empty if it is not there,
// elsewhere or no regular file.
[[nodiscard]] io::Path resolve_in(const io::Path& work, std::string_view relative);

}  // namespace gleaner::contract

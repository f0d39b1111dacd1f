// A bundle ready to be run or signed: the directory as it is, or, if its manifest wraps a program, a
// completed copy that lives as long as this. One thread.
#pragma once

#include "tools/admin/outside.h"

namespace gleaner::admin {

class PreparedBundle {
 public:
  // Errors: those of the manifest; not_found if Gleaner's programs for wrapping are not installed.
  [[nodiscard]] static Result<PreparedBundle> prepare(Outside& outside, const io::Path& directory);
  ~PreparedBundle();
  PreparedBundle(PreparedBundle&& other) noexcept;
  PreparedBundle(const PreparedBundle&) = delete;
  PreparedBundle& operator=(const PreparedBundle&) = delete;
  PreparedBundle& operator=(PreparedBundle&&) = delete;

  [[nodiscard]] const io::Path& directory() const { return directory_; }

 private:
  explicit PreparedBundle(io::Path directory) : directory_(std::move(directory)) {}
  io::Path directory_;
  io::Path copy_;  // removed at the end; empty: there is none
};

}  // namespace gleaner::admin

// What `run-local` and `app check` compute with, on this machine. One thread.
#pragma once

#include "tools/admin/commands.h"
#include "tools/admin/outside.h"
#include "tools/local/confinement.h"
#include "tools/local/local_bundle.h"

namespace gleaner::admin {

// A bundle ready to be run or signed: the directory as it is, or, if its manifest wraps a program, a
// completed copy that lives as long as this.
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
  // Of a wrapped program?
  [[nodiscard]] bool is_completed() const { return !copy_.empty(); }

 private:
  explicit PreparedBundle(io::Path directory) : directory_(std::move(directory)) {}
  io::Path directory_;
  io::Path copy_;  // removed at the end; empty: there is none
};

// Adds --unconfined, with which a person accepts in words that nothing confines the bundle's programs.
void declare_unconfined(CLI::App* command, std::string& words);
// How the bundle's programs are confined. `place`: a directory for trying it, made and removed. io: they
// cannot be.
[[nodiscard]] Result<local::Confinement> find_confinement(Outside& outside, const std::string& words,
                                                          const io::Path& place);

// Parameters and inputs as the options name them.
[[nodiscard]] Result<local::Content> local_content(const io::Files& files, const ProblemOptions& options);

// A name for a new directory in $TMPDIR, else /tmp. not_found: no such directory.
[[nodiscard]] Result<io::Path> unused_work(const std::string& prefix);
// Removes the work directory, or says where it was kept.
[[nodiscard]] Status end_work(Outside& outside, const io::Path& work, bool keep);

}  // namespace gleaner::admin

// The log of a stage's events and decisions, for `gleaner-sim replay`: lines of policy/journal appended to
// problems' own files. A record for people, not a store: it is written in pieces and not synced, and what
// cannot be written is left out with one warning. Ends at a size, so that it never fills the disk.
//
// Lines of a transaction that fails are never written: they wait until settle(), which is called after the
// sync. Writer thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/policy/journal/recorded_stage.h"
#include "shared/io/files.h"

namespace gleaner::service {

class DecisionLog {
 public:
  // Appends to what is there.
  DecisionLog(io::Path path, std::int64_t bytes_max);

  void line(const std::string& text);
  // Whether so many bytes more have their place; false: the log ends here. What the file has already counts
  // from open() on, which the first piece to be written does otherwise.
  [[nodiscard]] bool has_room(std::size_t bytes);
  void open(io::Files& files);
  // What was added so far has happened; writes it if it is a piece's worth.
  void settle(io::Files& files);
  // Writes what has happened.
  void flush(io::Files& files);

 private:
  void end();

  io::Path path_;
  std::int64_t bytes_max_;
  std::int64_t bytes_ = -1;  // written; -1: not opened yet
  std::string decided_;      // by the present transaction
  std::string pending_;      // has happened, not written
  bool over_ = false;
};

// Where the decisions of a stage, or of dispatch, go.
[[nodiscard]] policy::LogSink sink_of(std::shared_ptr<DecisionLog> log);

}  // namespace gleaner::service

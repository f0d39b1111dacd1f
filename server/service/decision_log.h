// The log of a stage's events and decisions, for `gleaner-sim replay`: lines of policy/journal appended to
// problems' own files. A record for people, not a store: it is written in pieces and not synced, and what
// cannot be written is left out with one warning. Ends at a size, so that it never fills the disk. Writer
// thread only.
#pragma once

#include <cstdint>
#include <string>

#include "shared/io/files.h"

namespace gleaner::service {

class DecisionLog {
 public:
  // Appends to what is there.
  DecisionLog(io::Files& files, io::Path path, std::int64_t bytes_max);
  ~DecisionLog();  // flush()
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  void line(const std::string& text);
  void flush();

 private:
  io::Files& files_;
  io::Path path_;
  std::int64_t bytes_max_;
  std::int64_t bytes_ = 0;  // written
  std::string pending_;
  bool over_ = false;
};

}  // namespace gleaner::service

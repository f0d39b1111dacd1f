// The file of the project's decision log (policy/dispatch/log.h), for `gleaner-sim replay`. A record for
// people, not a store: it is written in pieces and not synced, and what cannot be written is left out with
// one warning. Ends at a size, so that it never fills the disk; a start that finds it more than half full
// sets it aside (former()) and begins another one, so that a server of many months has its latest starts.
//
// Lines of a transaction that fails are never written: they wait until settle(), which the writer calls after
// the sync. Writer thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/policy/dispatch/log_sink.h"
#include "shared/io/files.h"

namespace gleaner::service {

class DecisionLog {
 public:
  // Appends to what is there. `files` outlives it.
  DecisionLog(io::Files& files, io::Path path, std::int64_t bytes_max);

  void line(const std::string& text);
  // Whether so many bytes more have their place; false: the log ends here.
  [[nodiscard]] bool has_room(std::size_t bytes);
  // The next settle() writes all.
  void want_written() { wanted_ = true; }
  // What was added so far has happened; writes it if it is a piece's worth, or wanted.
  void settle();

  // Where the log before this one is, if it was set aside.
  [[nodiscard]] static io::Path former(const io::Path& path);

 private:
  [[nodiscard]] Status begin();
  void end(const std::string& why);
  void write();

  io::Files& files_;
  io::Path path_;
  std::int64_t bytes_max_;
  std::int64_t bytes_ = 0;  // written
  std::string decided_;     // by the present transaction
  std::string pending_;     // has happened, not written
  bool wanted_ = false, over_ = false;
};

[[nodiscard]] policy::LogSink sink_of(std::shared_ptr<DecisionLog> log);

}  // namespace gleaner::service

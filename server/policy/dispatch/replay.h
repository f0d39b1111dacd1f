// Plays a server's log (log.h) into a fresh dispatch and compares what is decided with what the log says was
// decided. Reads files from anywhere: a line that cannot be is an error, never a crash.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/policy/dispatch/dispatch.h"
#include "server/policy/journal/replay.h"

namespace gleaner::policy {

class ProjectReplay {
 public:
  // Whether a log's first line is that of a server's.
  [[nodiscard]] static bool is_first_line(std::string_view line);

  // The next line. Errors: invalid, "LOG:12: ..."; `file` is for messages only.
  [[nodiscard]] Status feed(std::string_view line, const std::string& file);
  // Where log and replay parted first. What follows then proves nothing: stop feeding.
  [[nodiscard]] const std::optional<Parting>& parting() const { return parting_; }
  [[nodiscard]] std::int64_t lines() const { return lines_; }
  [[nodiscard]] std::int64_t events() const { return events_; }
  [[nodiscard]] std::int64_t decisions() const { return decisions_; }
  [[nodiscard]] const Dispatch* dispatch() const { return dispatch_.get(); }

 private:
  struct Line;
  [[nodiscard]] Status play(Line& line);
  [[nodiscard]] Status stage(Line& line, Timestamp at);
  [[nodiscard]] Status stage_event(Line& line);
  [[nodiscard]] Status work(Line& line, Timestamp at);
  [[nodiscard]] Status planned(Line& line, Timestamp at);
  void compare(std::string logged, std::string replayed);

  std::unique_ptr<Dispatch> dispatch_;
  std::map<std::string, PlanJob> jobs_;  // that a plan is awaited for
  std::map<ProblemId, std::int64_t> items_;
  std::int64_t last_unit_ = 0;
  std::int64_t lines_ = 0, events_ = 0, decisions_ = 0;
  std::optional<Parting> parting_;
};

}  // namespace gleaner::policy

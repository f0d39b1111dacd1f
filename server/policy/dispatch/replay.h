// Plays a project's decision log (log.h) into a fresh dispatch and compares what is decided with what the log
// says was decided. A log may hold several runs of the server, one after the other. Reads files from
// anywhere: a line that cannot be is an error, never a crash.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/policy/dispatch/dispatch.h"

namespace gleaner::policy {

struct Parting {
  std::int64_t line = 0;
  std::string logged;    // what was decided then, a line each
  std::string replayed;  // what is decided now
};

class ProjectReplay {
 public:
  // The next line. Errors: invalid, "LOG:12: ..."; `file` is for messages only.
  [[nodiscard]] Status feed(std::string_view line, const std::string& file);
  // Where log and replay parted first. What follows then proves nothing: stop feeding.
  [[nodiscard]] const std::optional<Parting>& parting() const { return parting_; }
  [[nodiscard]] std::int64_t lines() const { return lines_; }
  [[nodiscard]] std::int64_t events() const { return events_; }
  [[nodiscard]] std::int64_t decisions() const { return decisions_; }
  // Null: no first line has come.
  [[nodiscard]] const Dispatch* dispatch() const { return dispatch_.get(); }

 private:
  struct Play;
  [[nodiscard]] Status take(std::string_view line);
  void compare(std::string logged, std::string replayed);

  std::unique_ptr<Dispatch> dispatch_;
  std::map<std::string, PlanJob> jobs_;  // that a plan is awaited for
  std::map<ProblemId, std::int64_t> items_;
  std::int64_t last_unit_ = 0;  // ids are given in order: a unit is made once
  std::int64_t lines_ = 0, events_ = 0, decisions_ = 0;
  std::optional<Parting> parting_;
};

}  // namespace gleaner::policy

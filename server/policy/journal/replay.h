// Plays a log into a fresh stage and compares what it decides with what the log says was decided. A log may
// hold several stages one after the other (each restart begins with the setup again). Pure but for the lines
// it is given.
#pragma once

#include <optional>
#include <string>

#include "server/policy/journal/entry.h"
#include "server/policy/stage/stage.h"

namespace gleaner::policy {

struct Parting {
  std::int64_t line = 0;
  std::string logged;    // what was decided then, a line each
  std::string replayed;  // what is decided now
};

class Replay {
 public:
  // The next line of the log. Errors: invalid, "LOG:12: ..."; `file` is for messages only.
  [[nodiscard]] Status feed(std::string_view line, const std::string& file);
  // Where log and replay parted first. What follows then proves nothing: stop feeding.
  [[nodiscard]] const std::optional<Parting>& parting() const { return parting_; }
  [[nodiscard]] std::int64_t lines() const { return lines_; }
  [[nodiscard]] std::int64_t events() const { return events_; }
  [[nodiscard]] std::int64_t decisions() const { return decisions_; }
  [[nodiscard]] const Stage* stage() const { return stage_ ? &*stage_ : nullptr; }

 private:
  std::optional<Stage> stage_;
  std::int64_t items_ = 0;
  std::int64_t lines_ = 0, events_ = 0, decisions_ = 0;
  std::int64_t last_unit_ = 0;  // ids are given in order: a unit is made once
  bool fresh_ = false;          // nothing has happened since the setup
  std::optional<Parting> parting_;
};

}  // namespace gleaner::policy

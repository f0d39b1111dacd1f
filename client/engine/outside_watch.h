// Asks the outside signal now and then, on a background queue, and has client/policy/outside.h judge what it
// said. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/engine/services.h"
#include "client/policy/outside.h"

namespace gleaner::engine {

class OutsideWatch {
 public:
  explicit OutsideWatch(Services& services) : services_(services) {}

  // `where`: what is asked from now on; empty: nothing.
  void set(const std::string& where, Duration interval);
  // This computer slept, or its clock was set: what was said before holds no longer, and is asked anew.
  void forget();
  // What it says; nothing: yes, or there is none. `alarm`: when to ask again.
  [[nodiscard]] std::optional<client_policy::Signal> look(SteadyTime now, Alarm& alarm);
  // In words; empty: there is none.
  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  void ask(SteadyTime now);
  void take(const std::string& where, int round, const Result<std::string>& said);

  Services& services_;
  std::string where_;
  Duration interval_{0};
  bool asking_ = false;
  int round_ = 0;  // another one: what is asked already is not heard
  SteadyTime ask_at_{};
  std::optional<client_policy::OutsideAnswer> answer_;
  SteadyTime answered_at_{};
  std::string trouble_;
  std::string detail_;
};

}  // namespace gleaner::engine

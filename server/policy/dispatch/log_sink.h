// Where the lines of a log go, without the newline. True in conditions while it takes any: who writes asks
// first, so that no line is made for nothing.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace gleaner::policy {

class LogSink {
 public:
  using Write = std::function<void(const std::string& line)>;
  // Whether a line of so many bytes or more still has its place. False: nothing has from then on, for a log
  // that lacks a line leads nowhere.
  using Room = std::function<bool(std::size_t bytes)>;

  LogSink() = default;
  template <typename Call>
  requires std::constructible_from<Write, Call> LogSink(
      Call write, Room room = {})  // NOLINT(google-explicit-constructor): lambdas
      : write_(std::move(write)), room_(std::move(room)) {}

  [[nodiscard]] bool has_room(std::size_t bytes) const { return write_ && (!room_ || room_(bytes)); }
  explicit operator bool() const { return has_room(0); }
  void operator()(const std::string& line) const { write_(line); }

 private:
  Write write_;
  Room room_;
};

}  // namespace gleaner::policy

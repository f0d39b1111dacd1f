// The control protocol between `gleaner` and the daemon: one JSON object on a line each way. Requests:
// {"version":1,"command":"status"|"why"|"pause"|"resume"|"finish"|"reload"|"log"|"join"|"joined"|"quit",
// "seconds":N,"code":TEXT,"name":TEXT}; "join" begins, "joined" says whether it is "joining", and what came
// of it; replies:
// {"version":1,"ok":true, "message":TEXT,"status":{...}} or {"version":1,"ok":false,"message":TEXT}. Bounded;
// garbage gets an answer that says so. Private to this client: not part of the wire.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/engine/engine.h"

namespace gleaner::engine {

inline constexpr std::size_t control_line_bytes_max = 4096;

struct ControlOutcome {
  std::string reply;  // one line, without '\n'
  bool quit = false;  // the daemon is to stop after answering
};

struct ControlHelp {
  std::function<Status()> reload;                 // reads the preferences again
  std::function<std::vector<std::string>()> log;  // the last messages, oldest first
  std::function<Status(const std::string& code, const std::string& name)> join;
  std::function<std::optional<Result<std::string>>()> joined;  // absent: it is under way
};

[[nodiscard]] ControlOutcome handle_control(Engine& engine, std::string_view line,
                                            const ControlHelp& help = {});

// For a client that computes nothing, because its server refuses this computer. Every command is answered
// with the reason, but `join` joins with another code and `quit` stops the client.
[[nodiscard]] ControlOutcome handle_control_refused(std::string_view line, const std::string& why,
                                                    const ControlHelp& help = {});

}  // namespace gleaner::engine

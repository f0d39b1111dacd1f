// The log of a daemon. Whatever it is given, one record is one line of clean text (shared/base/clean_text.h):
// a failure message or a kernel's last words cannot pass for a line of ours. No line repeats without bound
// (repeats.h). Any thread.
#pragma once

#include <spdlog/formatter.h>
#include <spdlog/sinks/sink.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gleaner::logging {

enum class Form {
  text,
  json,  // {"time":"2026-11-20T22:04:05.123Z","level":"info","thread":1234,"message":"..."}: the record as it
         // is
};

[[nodiscard]] Form form_of(std::string_view name);  // as the setting log.format has it

[[nodiscard]] std::unique_ptr<spdlog::formatter> formatter(Form form, const std::string& pattern);

// What programs log goes to standard error from now on, with time stamps where the journal does not write
// them, and as text to `others`, whose pattern is `others_pattern`. `level` is as spdlog names them.
struct Setup {
  std::string name;
  std::string level = "info";
  Form form = Form::text;
  std::string pattern = "%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v";
  std::vector<spdlog::sink_ptr> others = {};
  std::string others_pattern = "%l: %v";
};
void set_up(const Setup& setup);

// What was counted of repeated lines is written when its minute is over: with the next line of the log, or
// with this, which whoever wakes up anyway calls now and then.
void write_counts();

}  // namespace gleaner::logging

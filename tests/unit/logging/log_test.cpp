#include "shared/logging/log.h"

#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include "shared/json/text.h"
#include "shared/logging/repeats.h"
#include "tests/catch.h"

namespace gleaner::logging {
namespace {

using Memory = spdlog::sinks::ringbuffer_sink_mt;

const std::string forged =
    "the kernel said: x\n2026-11-27 02:00:00 warning admin token withdrawn by ann\r\x1b[2J\xE2\x80\xAE";

std::string formatted(Form form) {
  const auto one = formatter(form, "%l %v");
  spdlog::memory_buf_t text;
  one->format(spdlog::details::log_msg("test", spdlog::level::warn, forged), text);
  return {text.data(), text.size()};
}

// The default logger while it lives.
struct Log {
  std::shared_ptr<Memory> memory = std::make_shared<Memory>(1000);
  std::shared_ptr<spdlog::logger> before = spdlog::default_logger();
  Log() { set_up({.name = "test", .others = {memory}, .others_pattern = "%l %v"}); }
  ~Log() { spdlog::set_default_logger(before); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
};

}  // namespace

TEST_CASE("One record is one line of clean text, whatever it was given", "[log]") {
  CHECK(formatted(Form::text) ==
        "warning the kernel said: x 2026-11-27 02:00:00 warning admin token withdrawn by ann  [2J\n");
}

TEST_CASE("As JSON a record is exact, and still one line that no terminal obeys", "[log]") {
  const std::string text = formatted(Form::json);
  CHECK(text.find('\n') == text.size() - 1);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\xE2') == std::string::npos);
  CHECK(json::parse_or_null(text)["message"].string() == forged);
}

TEST_CASE("Every daemon's log cleans its lines and bounds their repetition", "[log]") {
  const Log log;
  spdlog::warn("{}", forged);
  for (int i = 0; i < 500; ++i) spdlog::warn("unit {}: the same again", i);
  const auto lines = log.memory->last_formatted();
  REQUIRE(lines.size() == 1 + static_cast<std::size_t>(lines_a_minute));
  for (const std::string& line : lines) CHECK(line.find('\n') == line.size() - 1);
  CHECK(lines[0] == formatted(Form::text));
}

TEST_CASE("What was counted is said before the log ends", "[log]") {
  std::shared_ptr<Memory> memory;
  {
    const Log log;
    memory = log.memory;
    for (int i = 0; i < 500; ++i) spdlog::error("disk {} is full", i);
  }
  CHECK(memory->last_formatted().back() ==
        "error disk 499 is full, and 480 more like it in the last minute\n");
}

}  // namespace gleaner::logging

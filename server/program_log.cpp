#include "server/program_log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

#include "shared/base/clock.h"
#include "shared/json/text.h"
#include "shared/json/value.h"

namespace gleaner::server {
namespace {

std::string_view level_name(spdlog::level::level_enum level) {
  const auto name = spdlog::level::to_string_view(level);
  return {name.data(), name.size()};
}

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& line, spdlog::memory_buf_t& to) override {
    const json::Value document{{"time", to_rfc3339(std::chrono::time_point_cast<Duration>(line.time))},
                               {"level", level_name(line.level)},
                               {"thread", line.thread_id},
                               {"message", std::string_view(line.payload.data(), line.payload.size())}};
    const std::string text = json::write(document) + "\n";
    to.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

}  // namespace

std::unique_ptr<spdlog::formatter> json_formatter() {
  return std::make_unique<JsonFormatter>();
}

void set_up_log(const std::string& level, const std::string& form) {
  auto logger = spdlog::stderr_color_mt("gleaner-server");
  // Under systemd the journal writes the time itself.
  if (form == "json")
    logger->set_formatter(json_formatter());
  else
    logger->set_pattern(std::getenv("JOURNAL_STREAM") != nullptr ? "%l: %v"
                                                                 : "%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace gleaner::server

// What the server writes into its log while one of these lives. Made before the server and gone after it.
#pragma once

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gleaner::service::testing {

class LogLines {
 public:
  explicit LogLines(spdlog::level::level_enum level = spdlog::level::info)
      : before_(spdlog::default_logger()) {
    const auto logger = std::make_shared<spdlog::logger>("", sink_);
    logger->set_level(level);
    spdlog::set_default_logger(logger);
  }
  ~LogLines() { spdlog::set_default_logger(before_); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  // "level: text" each, oldest first.
  [[nodiscard]] std::vector<std::string> all() const { return sink_->lines(); }
  [[nodiscard]] std::ptrdiff_t count(const std::string& part) const {
    const auto lines = all();
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  [[nodiscard]] bool has(const std::string& part) const { return count(part) > 0; }

 private:
  class Sink final : public spdlog::sinks::base_sink<std::mutex> {
   public:
    [[nodiscard]] std::vector<std::string> lines() {
      const std::lock_guard lock(mutex_);
      return lines_;
    }

   private:
    void sink_it_(const spdlog::details::log_msg& message) override {
      const auto level = spdlog::level::to_string_view(message.level);
      lines_.push_back(std::string(level.data(), level.size()) + ": " +
                       std::string(message.payload.data(), message.payload.size()));
    }
    void flush_() override {}
    std::vector<std::string> lines_;
  };

  std::shared_ptr<Sink> sink_ = std::make_shared<Sink>();
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace gleaner::service::testing

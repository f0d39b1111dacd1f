#include "shared/logging/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <mutex>
#include <utility>

#include "shared/base/clean_text.h"
#include "shared/base/clock.h"
#include "shared/json/text.h"
#include "shared/json/value.h"
#include "shared/logging/repeats.h"

namespace gleaner::logging {
namespace {

static_assert(error_level == spdlog::level::err);

using Record = spdlog::details::log_msg;

constexpr std::size_t line_bytes_max =
    8192;  // a failure's message, which is 4 KiB at most, among our own words

std::string_view text_of(spdlog::string_view_t text) {
  return {text.data(), text.size()};
}

class LineFormatter final : public spdlog::formatter {
 public:
  explicit LineFormatter(std::string pattern) : pattern_(std::move(pattern)), inner_(pattern_) {}

  void format(const Record& record, spdlog::memory_buf_t& to) override {
    const std::string line = clean_line(text_of(record.payload), line_bytes_max);
    Record clean = record;
    clean.payload = line;
    inner_.format(clean, to);
    record.color_range_start = clean.color_range_start;
    record.color_range_end = clean.color_range_end;
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<LineFormatter>(pattern_);
  }

 private:
  std::string pattern_;
  spdlog::pattern_formatter inner_;
};

class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const Record& record, spdlog::memory_buf_t& to) override {
    const json::Value document{{"time", to_rfc3339(std::chrono::time_point_cast<Duration>(record.time))},
                               {"level", text_of(spdlog::level::to_string_view(record.level))},
                               {"thread", record.thread_id},
                               {"message", text_of(record.payload)}};
    const std::string text = json::write(document) + "\n";
    to.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonFormatter>();
  }
};

// Before all others.
class LimitingSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LimitingSink(std::vector<spdlog::sink_ptr> to) : to_(std::move(to)) {}
  ~LimitingSink() override { write_due(Repeats::Time::max()); }
  LimitingSink(const LimitingSink&) = delete;
  LimitingSink& operator=(const LimitingSink&) = delete;

 protected:
  void sink_it_(const Record& record) override {
    write_due(record.time);
    // Who asks for such details wants all of them.
    if (record.level <= spdlog::level::debug ||
        repeats_.admit(record.level, text_of(record.payload), record.time))
      pass(record);
  }
  void flush_() override {
    write_due(spdlog::log_clock::now());
    for (const auto& each : to_) each->flush();
  }
  void set_pattern_(const std::string&) override {}  // theirs are their own
  void set_formatter_(std::unique_ptr<spdlog::formatter>) override {}

 private:
  void write_due(Repeats::Time now) {
    for (const auto& counted : repeats_.take_due(now)) {
      const std::string line = Repeats::text(counted);
      pass(Record(spdlog::log_clock::now(), {}, {}, static_cast<spdlog::level::level_enum>(counted.level),
                  line));
    }
  }
  void pass(const Record& record) {
    for (const auto& each : to_)
      if (each->should_log(record.level)) each->log(record);
  }

  std::vector<spdlog::sink_ptr> to_;
  Repeats repeats_;
};

}  // namespace

Form form_of(std::string_view name) {
  return name == "json" ? Form::json : Form::text;
}

std::unique_ptr<spdlog::formatter> formatter(Form form, const std::string& pattern) {
  if (form == Form::json) return std::make_unique<JsonFormatter>();
  return std::make_unique<LineFormatter>(pattern);
}

void set_up(const Setup& setup) {
  auto out = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  out->set_formatter(
      formatter(setup.form, std::getenv("JOURNAL_STREAM") != nullptr ? "%l: %v" : setup.pattern));
  for (const auto& other : setup.others) other->set_formatter(formatter(Form::text, setup.others_pattern));
  std::vector<spdlog::sink_ptr> all = setup.others;
  all.push_back(std::move(out));
  auto logger = std::make_shared<spdlog::logger>(setup.name, std::make_shared<LimitingSink>(std::move(all)));
  logger->set_level(spdlog::level::from_str(setup.level));
  spdlog::set_default_logger(std::move(logger));
}

void write_counts() {
  spdlog::default_logger_raw()->flush();
}

}  // namespace gleaner::logging

#include "server/service/core/decision_log.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace gleaner::service {
namespace {
constexpr std::size_t piece_bytes = std::size_t{64} << 10;
}

DecisionLog::DecisionLog(io::Path path, std::int64_t bytes_max)
    : path_(std::move(path)), bytes_max_(bytes_max) {}

void DecisionLog::line(const std::string& text) {
  if (over_) return;
  decided_ += text;
  decided_ += '\n';
}

bool DecisionLog::has_room(std::size_t bytes) {
  const std::size_t more = decided_.size() + pending_.size() + bytes;
  if (!over_ && std::max<std::int64_t>(0, bytes_) + static_cast<std::int64_t>(more) > bytes_max_) end();
  return !over_;
}

void DecisionLog::end() {
  spdlog::info("{} has reached its size (log.decisions_megabytes): nothing more is added", path_.string());
  over_ = true;
}

void DecisionLog::settle(io::Files& files) {
  if (pending_.empty()) {
    pending_.swap(decided_);
  } else {
    pending_ += decided_;
    decided_.clear();
  }
  if (pending_.size() >= piece_bytes) flush(files);
}

void DecisionLog::open(io::Files& files) {
  const auto size = files.size(path_);
  bytes_ = size.ok() ? *size : 0;
}

void DecisionLog::flush(io::Files& files) {
  if (over_ || pending_.empty()) return;
  if (bytes_ < 0) open(files);
  if (bytes_ == 0 && !files.make_directories(path_.parent_path()).ok()) over_ = true;
  if (over_) return;
  if (bytes_ + static_cast<std::int64_t>(pending_.size()) > bytes_max_) {
    end();
  } else if (const Status written = files.write_at(path_, bytes_, pending_); !written.ok()) {
    spdlog::warn("decisions are not logged any more: {}", written.error().message);
    over_ = true;
  }
  bytes_ += static_cast<std::int64_t>(pending_.size());
  pending_.clear();
}

policy::LogSink sink_of(std::shared_ptr<DecisionLog> log) {
  return {[log](const std::string& line) { log->line(line); },
          [log](std::size_t bytes) { return log->has_room(bytes); }};
}

}  // namespace gleaner::service

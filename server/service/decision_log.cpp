#include "server/service/decision_log.h"

#include <spdlog/spdlog.h>

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
  bytes_ = 0;
  if (const Status made = files.make_directories(path_.parent_path()); !made.ok()) over_ = true;
  if (const auto size = files.size(path_); size.ok()) bytes_ = *size;
}

void DecisionLog::flush(io::Files& files) {
  if (over_ || pending_.empty()) return;
  if (bytes_ < 0) open(files);
  if (bytes_ + static_cast<std::int64_t>(pending_.size()) > bytes_max_) {
    spdlog::info("{} has reached its size (log.decisions_megabytes): nothing more is added", path_.string());
    over_ = true;
  } else if (const Status written = files.write_at(path_, bytes_, pending_); !written.ok()) {
    spdlog::warn("decisions are not logged any more: {}", written.error().message);
    over_ = true;
  }
  bytes_ += static_cast<std::int64_t>(pending_.size());
  pending_.clear();
}

}  // namespace gleaner::service

#include "server/service/decision_log.h"

#include <spdlog/spdlog.h>

namespace gleaner::service {
namespace {
constexpr std::size_t piece_bytes = std::size_t{64} << 10;
}

DecisionLog::DecisionLog(io::Files& files, io::Path path, std::int64_t bytes_max)
    : files_(files), path_(std::move(path)), bytes_max_(bytes_max) {
  if (const Status made = files_.make_directories(path_.parent_path()); !made.ok()) over_ = true;
  if (const auto size = files_.size(path_); size.ok()) bytes_ = *size;
}

DecisionLog::~DecisionLog() {
  flush();
}

void DecisionLog::line(const std::string& text) {
  if (over_) return;
  pending_ += text;
  pending_ += '\n';
  if (pending_.size() >= piece_bytes) flush();
}

void DecisionLog::flush() {
  if (over_ || pending_.empty()) return;
  if (bytes_ + static_cast<std::int64_t>(pending_.size()) > bytes_max_) {
    spdlog::info("{} has reached its size (log.decisions_megabytes): nothing more is added", path_.string());
    over_ = true;
  } else if (const Status written = files_.write_at(path_, bytes_, pending_); !written.ok()) {
    spdlog::warn("decisions are not logged any more: {}", written.error().message);
    over_ = true;
  }
  bytes_ += static_cast<std::int64_t>(pending_.size());
  pending_.clear();
}

}  // namespace gleaner::service

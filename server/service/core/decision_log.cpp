#include "server/service/core/decision_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace gleaner::service {
namespace {
constexpr std::size_t piece_bytes = std::size_t{64} << 10;
}

DecisionLog::DecisionLog(io::Files& files, io::Path path, std::int64_t bytes_max)
    : files_(files), path_(std::move(path)), bytes_max_(bytes_max) {
  if (const Status ready = begin(); !ready.ok()) end(ready.error().message);
}

Status DecisionLog::begin() {
  const auto size = files_.size(path_);
  bytes_ = size.ok() ? *size : 0;
  if (bytes_ > bytes_max_ / 2) {
    TRY(files_.rename(path_, former(path_)));
    bytes_ = 0;
  }
  return files_.make_directories(path_.parent_path());
}

io::Path DecisionLog::former(const io::Path& path) {
  return path.parent_path() / (path.stem().string() + "-former" + path.extension().string());
}

void DecisionLog::line(const std::string& text) {
  if (over_) return;
  decided_ += text;
  decided_ += '\n';
}

bool DecisionLog::has_room(std::size_t bytes) {
  const std::size_t more = decided_.size() + pending_.size() + bytes;
  if (!over_ && bytes_ + static_cast<std::int64_t>(more) > bytes_max_)
    end(fmt::format("{} has reached its size (log.decisions_megabytes)", path_.string()));
  return !over_;
}

void DecisionLog::end(const std::string& why) {
  spdlog::warn("decisions are not logged until the next start: {}", why);
  over_ = true;
}

void DecisionLog::settle() {
  if (pending_.empty()) {
    pending_.swap(decided_);
  } else {
    pending_ += decided_;
    decided_.clear();
  }
  if (std::exchange(wanted_, false) || pending_.size() >= piece_bytes) write();
}

// What has happened before the log ended is written.
void DecisionLog::write() {
  if (pending_.empty()) return;
  if (const Status written = files_.write_at(path_, bytes_, pending_); !written.ok())
    end(written.error().message);
  bytes_ += static_cast<std::int64_t>(pending_.size());
  pending_.clear();
}

policy::LogSink sink_of(std::shared_ptr<DecisionLog> log) {
  return {[log](const std::string& line) { log->line(line); },
          [log](std::size_t bytes) { return log->has_room(bytes); }};
}

}  // namespace gleaner::service

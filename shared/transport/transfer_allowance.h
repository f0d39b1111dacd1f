// How much more may be transferred, as the owner of the computer allows. The engine sets it; large transfers
// ask between pieces, and as bytes come: one that runs stops when nothing is left, keeps what it has, and is
// resumed later. Bytes are those that the link's meter counts, so that what is left shrinks with each one.
// Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "shared/transport/link_meter.h"

namespace gleaner::transport {

class TransferAllowance {
 public:
  static constexpr std::int64_t any = INT64_MAX;
  // None: nobody counts, and what is allowed is all or nothing.
  explicit TransferAllowance(std::shared_ptr<const LinkMeter> meter) : meter_(std::move(meter)) {}

  void allow(std::int64_t bytes) { end_ = bytes > any - moved() ? any : moved() + bytes; }
  [[nodiscard]] std::int64_t left() const {
    const std::int64_t end = end_;
    return end == any ? any : std::max<std::int64_t>(0, end - moved());
  }

 private:
  [[nodiscard]] std::int64_t moved() const { return meter_ ? meter_->moved() : 0; }
  std::shared_ptr<const LinkMeter> meter_;
  std::atomic<std::int64_t> end_{any};  // of what the meter may count
};

}  // namespace gleaner::transport

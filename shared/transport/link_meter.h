// How fast this computer's network link is, and how much went over it, measured on the transfers that are
// made anyway: the median of the latest ones that were large enough to be meaningful. Limits set in the
// preferences are part of the figure, as they should be. Thread-safe.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "shared/io/http_client.h"

namespace gleaner::transport {

class LinkMeter {
 public:
  // Less says more of the round trip than of the link.
  static constexpr std::int64_t telling_bytes = 64 << 10;
  static constexpr std::size_t kept = 15;

  void downloaded(std::int64_t bytes, Duration took) { downloads_.add(bytes, took); }
  void uploaded(std::int64_t bytes, Duration took) { uploads_.add(bytes, took); }
  // In both directions. An exchange that fails counts for what its reply's taker got.
  void add_moved(std::int64_t bytes) { moved_ += bytes; }
  // All bytes of bodies so far.
  [[nodiscard]] std::int64_t moved() const { return moved_; }
  // Bytes a second; 0: not known.
  [[nodiscard]] double download() const { return downloads_.median(); }
  [[nodiscard]] double upload() const { return uploads_.median(); }

 private:
  class Rates {
   public:
    void add(std::int64_t bytes, Duration took);
    [[nodiscard]] double median() const;

   private:
    mutable std::mutex mutex_;
    std::deque<double> rates_;
  };
  Rates downloads_, uploads_;
  std::atomic<std::int64_t> moved_{0};
};

// Tells the meter how fast each exchange was that succeeds, and what each one moved: both bodies, and of one
// that fails what its reply's taker had. What goes both ways in one exchange counts for the larger way.
[[nodiscard]] std::unique_ptr<io::HttpClient> metered(std::unique_ptr<io::HttpClient> client,
                                                      std::shared_ptr<LinkMeter> meter);

}  // namespace gleaner::transport

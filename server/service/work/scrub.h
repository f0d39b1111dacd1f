// The slow scrub: every blob that a row names, then every segment that the store keeps, is read and compared
// with its digest, a little each second (store.scrub_megabytes_per_second), so that what a disk lets rot is
// found while it can still be computed again. A round takes as long as it takes, and the next begins a day
// after it began. Where it is is kept in the store, once a minute: a server that is restarted often would
// never come to the end otherwise.
//
// tick() from the ticker's thread; reading happens on the pool, what is lost is told to the writer
// (damage.h). text() and lost() from any thread.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/service/core/kernel.h"

namespace gleaner::service {

class Scrub {
 public:
  explicit Scrub(Kernel& kernel) : kernel_(kernel) {}

  // Before the writer starts.
  [[nodiscard]] Status restore(storage::Store& store);
  // A second has passed.
  void tick();
  // How far it is, in a sentence.
  [[nodiscard]] std::string text() const;
  // Blobs and segments found damaged or gone since the server started.
  [[nodiscard]] std::int64_t lost() const { return *lost_; }

 private:
  using Digest = std::array<char, 32>;
  enum class Part { none, blobs, segments };  // of a round
  struct Found {
    std::vector<std::string> damaged, gone;           // blobs
    std::vector<storage::SegmentRow> segments, lost;  // in the store: damaged, without bytes
    [[nodiscard]] bool empty() const {
      return damaged.empty() && gone.empty() && segments.empty() && lost.empty();
    }
  };
  void begin_round();
  void enter_blobs(const std::vector<std::string>& digests);
  void step(std::int64_t bytes);
  void read_blobs(std::int64_t& bytes, Found& found);
  void read_segments(std::int64_t& bytes, Found& found);
  void tell(Found found);
  void keep(bool now);

  Kernel& kernel_;
  std::atomic<bool> busy_ = false;  // something is under way on the pool; it alone touches what follows
  std::vector<Digest> blobs_;       // of the round, ascending
  std::optional<storage::BlobStore::Verification> reading_;
  SegmentId segment_;      // the last that was read
  std::string resume_at_;  // of a round of the process before: a digest, or "segment:ID"
  SteadyTime kept_at_{};
  const std::shared_ptr<std::atomic<std::int64_t>> lost_ = std::make_shared<std::atomic<std::int64_t>>(0);
  mutable std::mutex mutex_;        // of what follows
  Part part_ = Part::none;          // written with busy_, too
  std::size_t next_ = 0, all_ = 0;  // blobs
  Timestamp begun_{}, finished_{};  // this round, the last whole one; 0: none
};

}  // namespace gleaner::service

// One unit on disk: the grant as received (a relay's with its lease), the items that are finished, what was
// cut from them for the server, what a relay holds of that, what was acknowledged. Not thread-safe.
// Invariant: begin <= acknowledged <= cut <= finished, and at most one cut is waiting to be delivered; any
// number are held. An error means the disk did not take it; the unit in memory goes on, and save() tries
// again.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "client/engine/granted.h"
#include "client/engine/journal.h"
#include "shared/protocol/messages.h"

namespace gleaner::engine {

class HeldUnit {
 public:
  // A new grant: durable when this returns.
  [[nodiscard]] static Result<std::unique_ptr<HeldUnit>> create(io::Files& files, const io::Path& directory,
                                                                const Granted& granted,
                                                                const protocol::Grant& grant);
  // From disk, where nothing is trusted: the caller checks what was granted again. `directory` is named by
  // the unit's id.
  [[nodiscard]] static Result<std::unique_ptr<HeldUnit>> load(io::Files& files, const io::Path& directory);

  [[nodiscard]] const Granted& granted() const { return granted_; }
  [[nodiscard]] const protocol::Grant& grant() const { return grant_; }
  [[nodiscard]] UnitId id() const { return grant_.unit; }
  [[nodiscard]] const io::Path& directory() const { return directory_; }

  [[nodiscard]] std::int64_t finished() const { return finished_; }          // first item not finished
  [[nodiscard]] std::int64_t end() const { return end_; }                    // as trimmed
  [[nodiscard]] std::int64_t acknowledged() const { return acknowledged_; }  // first item not acknowledged
  // Was all of it cut, and is none of it waiting for an acknowledgement?
  [[nodiscard]] bool acknowledged(Range range) const;
  [[nodiscard]] bool stopped() const { return stopped_; }  // nothing more will be computed
  [[nodiscard]] bool complete() const { return finished_ >= end_; }
  // Finished items inside the end that no cut covers.
  [[nodiscard]] std::int64_t uncut() const;
  [[nodiscard]] const std::optional<Cut>& pending() const { return pending_; }
  // Cuts that a relay has; each stays here until it is acknowledged. Oldest first.
  [[nodiscard]] const std::vector<Cut>& held() const { return held_; }
  // Nothing is left to compute or to deliver, but what a relay holds may be unacknowledged.
  [[nodiscard]] bool delivered() const { return !pending_ && uncut() == 0 && (stopped_ || complete()); }
  // Nor that.
  [[nodiscard]] bool drained() const { return delivered() && held_.empty(); }

  // Items at or beyond the end are dropped. REQUIRES for all others: index == finished().
  void add_item(std::int64_t index, std::string_view bytes);
  void trim(std::int64_t end);  // only ever lower
  void stop();
  [[nodiscard]] Status save();  // writes what is new
  [[nodiscard]] Status sync();  // and makes it durable: before a cut is sent

  // Cuts the finished items (as many as fit 32 MiB, at least one) and makes that durable. REQUIRES:
  // !pending(), uncut() > 0.
  [[nodiscard]] Status cut(double compute_seconds);
  // The raw bytes of the pending cut; untrusted if they no longer have its digest.
  [[nodiscard]] Result<Bytes> segment() const;
  void acknowledge();  // the pending cut
  // That one, or a held one, whichever ends there. REQUIRES: there is one.
  void acknowledge(std::int64_t end);
  void hold();    // the pending cut is with a relay
  void recall();  // the oldest held cut is to be delivered again. REQUIRES: !pending(), there is one
  // The server refused, or the disk lost, what was cut: nothing more is delivered of this unit, and items
  // that are still added are dropped. What a relay holds stays.
  void abandon();
  [[nodiscard]] Status remove();  // from disk

  static constexpr std::int64_t cut_bytes_max = 32 << 20;

 private:
  struct Place {
    std::int64_t offset;
    std::int64_t bytes;
  };
  HeldUnit(io::Files& files, io::Path directory, Granted granted, protocol::Grant grant);
  [[nodiscard]] Status replay(const JournalEntry& entry);
  [[nodiscard]] bool release(std::int64_t end);
  [[nodiscard]] Result<Bytes> build(Range range) const;

  io::Files& files_;
  io::Path directory_;
  Granted granted_;
  protocol::Grant grant_;
  std::unique_ptr<Journal> journal_;
  std::int64_t finished_ = 0;
  std::int64_t end_ = 0;
  std::int64_t acknowledged_ = 0;
  std::int64_t cut_ = 0;  // end of the last cut
  bool stopped_ = false;
  std::optional<Cut> pending_;
  std::vector<Cut> held_;
  std::int64_t recalled_ = -1;  // end of the pending cut, if it was held
  std::deque<Place> places_;    // of items acknowledged_ ... finished_ - 1
};

}  // namespace gleaner::engine

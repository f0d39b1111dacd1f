#include "server/service/upkeep/ticker.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "server/policy/calendar.h"
#include "server/service/operator/contribution_days.h"
#include "server/service/work/dispatch.h"
#include "server/service/work/life_cycle.h"
#include "shared/base/failpoint.h"

namespace gleaner::service {
namespace {

constexpr int garbage_ticks = 600;  // every ten minutes
constexpr int retention_ticks = 20;
constexpr int departure_ticks = 60;
constexpr int account_ticks = 30;  // what a crash may forget of a problem's fair share
constexpr Duration calendar_jump = std::chrono::seconds{10};
constexpr auto garbage_age = std::chrono::hours{24};
constexpr auto abandoned_age = std::chrono::hours{1};  // of what a host uploads

// Whether the calendar was set, or this computer slept, since the last call. The first since the model was
// read says no: that counted everything from its own time.
bool calendar_moved(Transaction& tx, Duration offset) {
  const auto before = std::exchange(tx.model.calendar_offset, offset);
  const Duration drift = before ? offset - *before : Duration{0};
  if (drift < calendar_jump && drift > -calendar_jump) return false;
  tx.effects.warn(fmt::format("the calendar moved by {:.0f} s: this computer slept, or its clock was set",
                              to_seconds(drift)));
  return true;
}

// Of the audit log, if acts were added since it was last looked up: its head. untrusted: what was noted of it
// is there no more.
Status find_new_head(Transaction& tx, const std::optional<protocol::ChainPlace>& noted,
                     std::optional<Result<protocol::ChainPlace>>& head) {
  if (std::exchange(tx.model.acts_head_known, true)) return {};
  if (noted) {
    const Status there = check_noted(tx.store, *noted);
    if (!there.ok() && there.error().kind != ErrorKind::untrusted) return there;
    if (!there.ok()) head = there.error();
    if (!there.ok()) return {};
  }
  TRY_ASSIGN(auto newest, acts_head(tx.store));
  head = std::move(newest);
  return {};
}

// What some row names, and how long the calendar has been believed.
struct Referenced {
  std::vector<std::string> digests;
  Duration calendar_agreed{};
};

Status find_referenced(Transaction& tx, Result<Referenced>& found) {
  // A problem that is being planned or combined may have stored blobs that no row names yet.
  const Underway& underway = tx.model.underway;
  if (!underway.jobs.empty() || !underway.reviews.empty() || !underway.drafts.empty()) {
    found = Error{ErrorKind::unavailable, "jobs are under way"};
    return {};
  }
  TRY_ASSIGN(auto digests, tx.store.referenced_blobs());
  found = Referenced{std::move(digests), tx.calendar_agreed};
  return {};
}

}  // namespace

Ticker::~Ticker() {
  stop();
}

void Ticker::start() {
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::seconds{1}, [this] { return stopped_; })) tick();
  });
}

void Ticker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Ticker::tick() {
  if (++ticks_ % retention_ticks == 0) problems_.remove_old();
  if (ticks_ % garbage_ticks == 0) collect_garbage();
  if (ticks_ % departure_ticks == 0) subtree_.tell();
  revocations_.tick();
  note_generation();
  audit_.store_refusals();
  audit_.note_head();
  scrub_.tick();
  kernel_.managers().look_at_rest();
  probe_blobs();
  views_.tick();
  work_.serve_waiting();
  kernel_.writer().retry();
  if (pending_->exchange(true)) return;  // the writer is behind: one tick waiting is enough
  const bool account = ticks_ % account_ticks == 0;
  const Duration steady = kernel_.clock().steady().time_since_epoch();
  const Duration offset = kernel_.clock().now().time_since_epoch() - steady;
  const auto head = std::make_shared<std::optional<Result<protocol::ChainPlace>>>();
  kernel_.writer().submit(
      [account, offset, head, noted = audit_.noted()](Transaction& tx) -> Status {
        TRY(find_new_head(tx, noted, *head));
        if (calendar_moved(tx, offset)) {
          // Every waiting time would be wrong: hosts silent for hours, or not silent for hours to come.
          tx.effects.add(effect::Reload{});
          return {};
        }
        TRY(tick_problems(tx));
        tick_dispatch(tx);
        count_contribution(tx);
        if (account) TRY(keep_accounts(tx));
        if (account) TRY(keep_contribution(tx));
        return {};
      },
      [this, pending = pending_, head](const Status& stored) {
        *pending = false;
        if (stored.ok() && *head) audit_.head_is(**head);
        return Writer::Answer{};
      });
}

void Ticker::note_generation() {
  storage::GenerationNote note = kernel_.store().generation();
  if (note == noted_) return;
  const storage::GenerationNote present = note;
  (void)failpoint("note-write");
  note.at = kernel_.clock().now();
  const Status written =
      storage::write_generation_note(kernel_.files(), kernel_.settings().directory.root(), note);
  if (written.ok()) {
    noted_ = present;
    return note_trouble_.clear();
  }
  if (const auto line = note_trouble_.say(written.error().message, kernel_.clock().steady()))
    spdlog::warn("how far the store is cannot be written down: {}", *line);
}

void Ticker::probe_blobs() {
  if (!kernel_.blobs().wants_probe() || probing_->exchange(true)) return;
  kernel_.on_blob_pool([this, probing = probing_] {
    kernel_.blobs().probe();
    *probing = false;
  });
}

void Ticker::collect_garbage() {
  kernel_.decide<Referenced>(find_referenced, [this](Result<Referenced> found) {
    if (!found.ok()) return;  // the next round will do
    kernel_.on_blob_pool([this, digests = std::move(found->digests), agreed = found->calendar_agreed] {
      remove_blobs_but(digests, agreed);
    });
  });
}

void Ticker::remove_blobs_but(const std::vector<std::string>& digests, Duration calendar_agreed) {
  if (!policy::may_expire(calendar_agreed, abandoned_age)) return;
  const Timestamp now = kernel_.clock().now();
  const std::unordered_set<std::string_view> kept(digests.begin(), digests.end());
  for (const auto& [host, digest] : uploads_.expire(now - abandoned_age)) {
    if (kept.contains(digest)) continue;
    const auto gone = kernel_.blobs().discard(digest, now - abandoned_age, sender_of(host));
    if (!gone.ok()) spdlog::warn("removing an abandoned upload failed: {}", gone.error().message);
  }
  if (!policy::may_expire(calendar_agreed, garbage_age)) return;
  const auto removed = kernel_.blobs().collect(digests, now, garbage_age);
  if (!removed.ok()) {
    spdlog::warn("clearing away old blobs failed: {}", removed.error().message);
  } else if (*removed > 0) {
    spdlog::info("removed {} files that nothing refers to", *removed);
  }
}

}  // namespace gleaner::service

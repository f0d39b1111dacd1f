#include "server/storage/leadership.h"

#include <optional>
#include <utility>

#include "shared/base/thread_name.h"

namespace gleaner::storage {
namespace {

// "Glnr". Of the database: the lock of who leads, and one for making the table.
constexpr std::int64_t lead_lock = 0x476c6e72;
constexpr const char* make_table = R"(
BEGIN;
SELECT pg_advisory_xact_lock(1198288499);
CREATE TABLE IF NOT EXISTS leader (epoch bigint PRIMARY KEY, beat bigint NOT NULL);
INSERT INTO leader SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM leader);
COMMIT;)";

Result<std::int64_t> number_from(Query& query) {
  std::int64_t number = 0;
  TRY_ASSIGN(const bool found, query.step());
  if (found) query.take(number);
  return number;
}

Result<bool> try_lock(Postgres& session) {
  Query query = session.query("SELECT CAST(pg_try_advisory_lock(?) AS integer)");
  TRY_ASSIGN(const std::int64_t taken, number_from(query.add(lead_lock)));
  return taken != 0;
}

struct Beat {
  std::int64_t epoch = -1, count = -1;
  friend bool operator==(const Beat&, const Beat&) = default;
};

Result<Beat> read_beat(Postgres& session) {
  Query query = session.query("SELECT epoch, beat FROM leader");
  Beat beat;
  TRY_ASSIGN(const bool found, query.step());
  if (found) query.take_all(beat.epoch, beat.count);
  return beat;
}

// The connection of whoever holds the lock, with the transaction that it may be in.
Status end_holder(Postgres& session) {
  Query query = session.query(
      "SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND "
      "granted AND classid = 0 AND CAST(objid AS bigint) = ? AND database = (SELECT oid FROM pg_database "
      "WHERE "
      "datname = current_database())) AS ended");
  TRY(number_from(query.add(lead_lock)));
  return {};
}

// PostgreSQL frees the lock of a connection that was closed a moment later: who does not want to wait is
// refused once the leader has beaten, or for a lease has not.
Status wait_for_lock(Postgres& session, const std::function<bool()>& go_on) {
  using Clock = std::chrono::steady_clock;
  const auto started = Clock::now();
  auto since = started;
  std::optional<Beat> last;
  bool beaten = false;
  for (;;) {
    TRY_ASSIGN(const bool taken, try_lock(session));
    if (taken) return {};
    TRY_ASSIGN(const Beat present, read_beat(session));
    if (present != last) {
      beaten = beaten || last.has_value();
      last = present;
      since = Clock::now();
    }
    const bool alive = beaten || Clock::now() - started > Leadership::lease;
    if (alive && go_on && !go_on()) return Error{ErrorKind::unavailable, "ended while another server led"};
    if (Clock::now() - since > Leadership::lease) {
      TRY(end_holder(session));
      since = Clock::now();
    }
    std::this_thread::sleep_for(Leadership::look);
  }
}

}  // namespace

Result<std::shared_ptr<Leadership>> Leadership::take(Postgres& session, const std::string& url,
                                                     const std::function<bool()>& go_on,
                                                     std::function<void(const Error&)> lost,
                                                     std::shared_ptr<LastBeat> last_beat) {
  TRY(session.execute(make_table));
  TRY(wait_for_lock(session, go_on));
  std::int64_t epoch = 0;
  {
    Query query = session.query("UPDATE leader SET epoch = epoch + 1, beat = 0 RETURNING epoch");
    TRY_ASSIGN(epoch, number_from(query));
  }
  TRY_ASSIGN(auto beats, Postgres::open(url));
  // A beat is to be seen, and need not survive: it waits for no disk and no replica.
  TRY(beats->execute("SET synchronous_commit = off"));
  std::shared_ptr<Leadership> leadership(
      new Leadership(std::move(beats), epoch, std::move(lost), std::move(last_beat)));
  session.lead(epoch, [weak = leadership.get()](const Error& error) { weak->lose(error); });
  return leadership;
}

Leadership::Leadership(std::unique_ptr<Postgres> beats, std::int64_t epoch,
                       std::function<void(const Error&)> lost, std::shared_ptr<LastBeat> last_beat)
    : beats_(std::move(beats)),
      epoch_(epoch),
      last_beat_(std::move(last_beat)),
      lost_(std::move(lost)),
      thread_([this] { run(); }) {}

Leadership::~Leadership() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Leadership::lose(const Error& error) {
  std::function<void(const Error&)> told;
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) told = std::exchange(lost_, nullptr);
  }
  if (told) told(error);
}

void Leadership::run() {
  name_this_thread("beat");
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, beat, [this] { return stopping_; })) return;
    }
    const auto asked = last_beat_ ? last_beat_->moment() : LastBeat::Moment{};
    Query query = beats_->query("UPDATE leader SET beat = beat + 1 WHERE epoch = ? RETURNING epoch");
    const auto found = number_from(query.add(epoch_));
    if (found.ok() && *found == epoch_) {
      if (last_beat_) last_beat_->led_after(asked);
      continue;
    }
    return lose(found.ok() ? Error{ErrorKind::unavailable, "another server leads this project now"}
                           : found.error());
  }
}

}  // namespace gleaner::storage

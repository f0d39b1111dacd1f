// One server of a project leads at a time, whatever dies, freezes or is cut off. Private to this module.
//
// The database holds it: a session's advisory lock, which ends with the leader's connection, and the table
// `leader`, one row of an epoch and a beat. Who waits takes the lock as soon as it is free, which is at once
// after a crash. A leader that is frozen or cut off keeps its connection, but not its beat: after `lease`, by
// the clock of who waits, its connection is ended by the database. Then the lock is free, and nothing that it
// had begun can be committed any more. A new leader raises the epoch; the former one, should it wake, finds
// that at its next beat and at the start of every transaction.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "server/storage/last_beat.h"
#include "server/storage/postgres.h"
#include "shared/base/result.h"

namespace gleaner::storage {

class Leadership {
 public:
  static constexpr std::chrono::milliseconds lease{2000}, beat{500}, look{100};

  // Leads by `session`, whose transactions depend on it from now on; waits as long as another server does,
  // and asks `go_on` each time it has looked (false: unavailable, as soon as that server is seen to beat, or
  // for a lease is not). `lost`: once, from any thread, when this
  // server leads no longer, or cannot know.
  [[nodiscard]] static Result<std::shared_ptr<Leadership>> take(Postgres& session, const std::string& url,
                                                                const std::function<bool()>& go_on,
                                                                std::function<void(const Error&)> lost,
                                                                std::shared_ptr<LastBeat> last_beat = {});
  ~Leadership();
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  [[nodiscard]] std::int64_t epoch() const { return epoch_; }

 private:
  Leadership(std::unique_ptr<Postgres> beats, std::int64_t epoch, std::function<void(const Error&)> lost,
             std::shared_ptr<LastBeat> last_beat);
  void run();
  void lose(const Error& error);

  std::unique_ptr<Postgres> beats_;  // a connection of its own: while the writer waits for a sync, too
  const std::int64_t epoch_;
  const std::shared_ptr<LastBeat> last_beat_;  // null: nobody asks
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::function<void(const Error&)> lost_;  // empty: told
  std::thread thread_;
};

}  // namespace gleaner::storage

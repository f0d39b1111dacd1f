// The one thread that decides and writes, and the model that it decides on. Operations that wait together
// share one transaction and one sync (group commit: whatever has queued up while the last sync ran, at most
// 200); their effects are performed and each one's completion is called only after the sync, so whatever it
// acknowledges survives a power cut. A server's batches follow each other without a wait. A relay's begin
// Settings::gather apart: its hosts can wait, and a batch costs as much as ten operations. A lone request
// costs one sync.
//
// If the transaction cannot be committed (a full disk), all of the batch fail with that error, its effects
// are dropped and the model is read back from the store, so that memory never says more than the disk. While
// even that fails, every operation is refused.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "server/metrics/histogram.h"
#include "server/policy/calendar.h"
#include "server/service/core/transaction.h"
#include "server/storage/store.h"
#include "shared/base/repeats.h"

namespace gleaner::service {

// How the writer keeps up, since the server started.
struct WriterFigures {
  // From an operation's arrival to its end: waiting, deciding, the sync.
  metrics::Histogram operation_seconds{metrics::bounds_of_seconds()};
  metrics::Histogram commit_seconds{metrics::bounds_of_seconds()};  // of which the sync is nearly all
  metrics::Histogram batch_operations{{1, 2, 5, 10, 20, 50, 100, 200}};
  std::int64_t transactions_failed = 0;
  bool failing = false;     // the last transaction was
  std::size_t waiting = 0;  // operations that are in no batch yet
  Duration idle{};          // since anything was taken, while something waits or is under way
};

class Writer {
 public:
  // Called on the writer thread after the sync (or the failure). Must not block. What it returns answers
  // somebody, elsewhere; it may be empty.
  using Answer = std::function<void()>;
  using Completion = std::function<Answer(Status)>;
  // Takes the answers of a batch, on the writer thread. Must not block.
  using Deliver = std::function<void(std::vector<Answer>)>;
  // Called on the writer thread after the sync, before the completions. Must not block.
  using Perform = std::function<void(std::vector<Effect>)>;

  Writer(storage::Store& store, const Settings& settings, io::Files& files, Clock& clock);
  ~Writer();  // stop()
  // `resume`: begins every transaction that is the first after the model was read back. `settle`: ends every
  // operation that left something due (Transaction::due).
  void start(Perform perform, Deliver deliver, Operation resume, Operation settle);
  // When stopping it is completed with unavailable, and answered, at once.
  void submit(Operation operation, Completion completion);
  // What must not be lost (a job of the pool is over): when its transaction fails, it is tried again with the
  // next retry(). Not after stop(): a restart begins such jobs again.
  void submit_surely(Operation operation);
  void retry();
  // From now on submit() calls `submitted`, on the caller's thread, which must not block or submit. Empty: it
  // calls nothing once this returns.
  void watch(std::function<void()> submitted);
  // Reads the model back: for effect::Reload and before start().
  [[nodiscard]] Status reload();
  // Runs what was taken, commits it, ends the thread.
  void stop();
  // From any thread.
  [[nodiscard]] WriterFigures figures() const;
  // Three transactions failed within the last minute: not one that met another process's lock.
  [[nodiscard]] bool refuses() const;
  // Before start(), and on the writer thread.
  [[nodiscard]] const Model& model() const { return model_; }

 private:
  struct Entry {
    Operation operation;
    Completion completion;
    SteadyTime since{};
  };
  void run();
  // Until a batch may begin. REQUIRES: the lock is held, and something waits.
  void gather(std::unique_lock<std::mutex>& lock);
  void run_batch(std::deque<Entry> batch);
  [[nodiscard]] Status operate(const Operation& operation, Effects& effects);
  [[nodiscard]] Status transact(const std::deque<Entry>& batch, Effects& effects, Duration& commit);
  void note(const std::deque<Entry>& batch, const Status& status, Duration commit);

  storage::Store& store_;
  const Settings& settings_;
  io::Files& files_;
  Clock& clock_;
  Perform perform_;
  Deliver deliver_;
  Operation resume_, settle_;
  policy::Calendar calendar_;     // writer thread
  Repeats refused_, unreadable_;  // the same
  Model model_;                   // writer thread only, once started
  Underway underway_;             // as of the last sync
  bool stale_ = false;            // the model could not be read back
  bool fresh_ = false;            // it was read back and not resumed yet
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> queue_;
  std::vector<Operation> again_;  // wait for retry()
  std::function<void()> submitted_;
  bool stopping_ = false;
  bool gathering_ = false;                 // another operation wakes nobody
  std::optional<SteadyTime> begun_;        // the latest batch
  std::optional<SteadyTime> batch_since_;  // the one under way
  WriterFigures figures_;                  // but for what figures() looks up
  std::deque<SteadyTime> failed_at_;       // the last three transactions that did
  std::thread thread_;
};

}  // namespace gleaner::service

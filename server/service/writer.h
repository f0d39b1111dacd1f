// The one thread that decides and writes. Operations that wait together share one transaction and one sync
// (group commit: whatever has queued up while the last sync ran, at most 200); each one's completion is
// called only after the sync, so whatever it acknowledges survives a power cut. Between batches there is no
// artificial wait: a lone request costs one sync.
//
// If the transaction cannot be committed (a full disk), all of the batch fail with that error and `reload`
// rebuilds the in-memory model from the store, so that memory never says more than the disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "server/storage/store.h"
#include "shared/base/result.h"

namespace gleaner::service {

class Writer {
 public:
  // Runs on the writer thread inside a transaction. An error poisons the whole batch: return one only for
  // failures of the store; a refused request is a value.
  using Operation = std::function<Status()>;
  // Called on the writer thread after the sync (or the failure). Must not block.
  using Completion = std::function<void(Status)>;

  Writer(storage::Store& store, std::function<Status()> reload);
  ~Writer();  // stop()
  void start();
  // unavailable is completed at once when stopping.
  void submit(Operation operation, Completion completion);
  // Runs what was taken, commits it, ends the thread.
  void stop();

 private:
  struct Entry {
    Operation operation;
    Completion completion;
  };
  void run();
  void run_batch(std::deque<Entry> batch);

  storage::Store& store_;
  std::function<Status()> reload_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Entry> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace gleaner::service

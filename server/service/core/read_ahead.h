// Reads what a model is made of on a thread of its own, while its owner makes the model of what has come. The
// store is this object's alone until standings() has returned.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "server/policy/journal/entry.h"
#include "server/storage/store.h"

namespace gleaner::service {

// What a stage is restored from (model.h).
[[nodiscard]] Result<policy::RestoreEvent> read_stage(storage::Store& store, const storage::StageRow& row);

class ReadAhead {
 public:
  // The present stage of each of these problems that has one which is not over, then all hosts, then their
  // standings: a stage takes longest to be restored, and meanwhile the hosts are read.
  ReadAhead(storage::Store& store, const std::vector<storage::ProblemRow>& problems);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Once, before the others.
  [[nodiscard]] Result<std::map<ProblemId, policy::RestoreEvent>> stages();
  // The next ones by their ids, waited for; none: there are no more, or standings() says why.
  [[nodiscard]] std::vector<storage::HostRow> next_hosts();
  // Once, after the others.
  [[nodiscard]] Result<std::vector<storage::StandingRow>> standings();

 private:
  using Batch = std::vector<storage::HostRow>;
  enum class Read { none, stages, hosts, all };
  Status read(storage::Store& store, const std::vector<storage::ProblemRow>& problems);
  Status read_hosts(storage::Store& store);
  bool put(Batch batch);  // false: nobody wants it any more
  void note(Read read);

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by the mutex.
  std::deque<Batch> batches_;
  Read read_ = Read::none;
  bool unwanted_ = false;
  Status status_;
  std::map<ProblemId, policy::RestoreEvent> stages_;
  std::vector<storage::StandingRow> standings_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace gleaner::service

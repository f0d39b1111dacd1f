// What the applications' managers say of delivered segments. Those of one problem that wait together are
// asked in one go: the manager wakes, and sleeps again, once for all of them. A manager that is busy (it
// combines) holds up one thread of the pool, however many wait for it. Thread-safe.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "server/service/core/kernel.h"

namespace gleaner::service {

class Validations {
 public:
  // Runs a job on a thread that may wait for a manager.
  using OnPool = std::function<void(std::function<void()>)>;

  Validations(Managers& managers, OnPool on_pool) : managers_(managers), on_pool_(std::move(on_pool)) {}

  struct Question {
    ManagerSetup manager;
    int stage = 0;
    Range range;
    std::shared_ptr<const Bytes> segment;
    Done<contract::Validation> done;
  };
  // `done` is called on a thread of the pool.
  void ask(Question question);
  // The same for one question, which is answered when this returns: for segments that are not to wait in the
  // memory. On the pool.
  void ask_now(const Question& question);

 private:
  struct Line {
    std::deque<Question> waiting;
    bool served = false;  // somebody asks them
  };
  void serve(ProblemId problem);
  [[nodiscard]] std::vector<Question> next(ProblemId problem);  // empty: nobody waits any more

  Managers& managers_;
  const OnPool on_pool_;
  std::mutex mutex_;
  std::map<ProblemId, Line> lines_;  // of problems that somebody waits for
};

}  // namespace gleaner::service

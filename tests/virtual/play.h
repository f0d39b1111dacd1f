// What happens to the server in virtual time: simulated hosts tell it what clients tell, and faults are drawn
// from a seed. Requests and replies get lost, commits come twice, statements and syncs of the store fail,
// syncs succeed and are said to have failed, the server is opened anew, the calendar jumps, problems are
// paused, hosts vanish for days and come back with what they had. After the last day all faults end, and what
// must hold is looked at: each acknowledged result was counted once, no item that was accepted was lost, and
// every problem's answer has each item once and right. Ledgers are checked on the way, and every start of the
// server is decided again by its decision log.
//
// The seed decides what happens; the service's own threads may take it in another order, so that a seed that
// failed is worth trying more than once. What does not hold is said on standard error with seed and time, and
// ends the program with 1. Not thread-safe.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "shared/base/random.h"
#include "tests/virtual/server.h"

namespace gleaner::virtual_time {

struct Options {
  int days = 3;
  std::uint64_t seed = 1;
  int hosts = 12;
};

class Play {
 public:
  explicit Play(const Options& options);
  // Prints a line for every ten days, and what happened.
  void run();

 private:
  struct Held {
    UnitId unit;
    ProblemId problem;
    Range rest;  // not delivered
    int slot = 0;
    SteadyTime since;  // it computes rest.begin since
  };
  struct Delivery {
    ProblemId problem;
    protocol::CommitRequest request;
  };
  struct Machine {
    HostId id;
    double item_seconds = 0;
    SteadyTime next;
    std::vector<Held> held;
    std::deque<Delivery> outbox;                            // not acknowledged
    std::vector<std::pair<Delivery, std::string>> settled;  // the latest, with their answers
  };
  struct Ledger {
    std::int64_t items = 0;
    std::int64_t acknowledged = 0;  // items that hosts were told are accepted
    std::int64_t accepted = 0;      // as the server last said
  };

  void require(bool held, const std::string& what) const;
  void pass_until(SteadyTime time);
  void keep_problems();
  void close(ProblemId id);
  void compute(Machine& machine);
  void contact(Machine& machine);
  [[nodiscard]] protocol::WorkRequest request_of(const Machine& machine) const;
  void take(Machine& machine, const protocol::WorkReply& reply);
  void take_answer(Machine& machine, const protocol::Acknowledgement& answer);
  void send_again(Machine& machine);
  [[nodiscard]] bool arm();
  void disturb(Machine& machine);
  void look_at_ledgers();
  void tell_what_is_left();
  [[nodiscard]] bool over() const;

  const Options options_;
  Random random_;
  Server server_;
  bool faults_ = true;
  SteadyTime ticked_;
  std::vector<Machine> machines_;
  std::map<ProblemId, Ledger> ledgers_;
  std::map<std::string, std::int64_t> counts_;
};

}  // namespace gleaner::virtual_time

// Hosts at work: each asks for units, computes them (that is, waits), and delivers them with its next
// request, in one round trip, as a client does with small results. Some answers are checked as a client
// checks all of them; every acknowledgement must be of what was sent, and goes to the ledger. With `errors`,
// hosts also do what computers and networks do: send a result again, send wrong bytes, lose the connection
// before the answer, or vanish with their units and come back with nothing. Under a relay a host goes on as
// soon as that holds its result, which it signed; the project's acknowledgement comes with a later answer.
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/random.h"
#include "shared/crypto/statements.h"
#include "tools/loadgen/hosts_file.h"
#include "tools/loadgen/ledger.h"
#include "tools/loadgen/results.h"
#include "tools/loadgen/script.h"

namespace gleaner::loadgen {

enum class Mode : int {
  cycle = 1,      // deliver and ask
  ask = 2,        // ask only, and give back what was given before
  heartbeat = 3,  // of a unit that was asked for once
  project = 4,    // GET /v1/project
};

struct WorkOptions {
  Mode mode = Mode::cycle;
  std::int64_t units_per_request = 1;
  std::int64_t heartbeats = 0;  // between two requests for work
  Duration compute{0};          // from a unit to its result
  Duration item{0};             // on top, for each of its items
  Duration think{0};            // on top, on average; exponential
  double errors = 0;            // share of requests
  bool stubborn = false;        // asks again at once where there was no work
  std::int64_t rounds = 0;      // answers after which a host is silent; 0: it never is
  std::int64_t verify_every = 10;
  ResultShape results;
};

// From the start on.
struct Tally {
  std::int64_t cycles = 0;  // answers that acknowledge something and give something
  std::int64_t units = 0;   // acknowledged, not refused
  std::int64_t given = 0;
  std::int64_t idle = 0;            // answers without work
  std::int64_t heartbeats = 0;      // answered
  std::int64_t verified = 0;        // answers all of whose signatures were checked
  std::int64_t untrusted = 0;       // of these, those that did not hold
  std::int64_t contradictions = 0;  // answers that are not of what was sent, or not as they were before
  std::int64_t refused = 0;         // results that nothing was wrong with
  std::int64_t oversized = 0;       // units whose results would be too large to deliver
  std::int64_t dismissed = 0;       // hosts that the server does not know any more
  std::int64_t repeated = 0, spoiled = 0, vanished = 0;
};

class Working final : public Script {
 public:
  Working(const WorkOptions& options, std::vector<EnrolledHost> hosts, std::string authority,
          crypto::ProjectTrust trust, Ledger& ledger);
  std::size_t hosts() const override { return enrolled_.size(); }
  Request request(std::size_t host) override;
  Next answered(std::size_t host, const Response& response) override;
  // What was sent and not answered goes to the ledger.
  void close_books();
  [[nodiscard]] const Tally& tally() const { return tally_; }
  // The first thing that was wrong with an answer; empty: nothing was.
  [[nodiscard]] const std::string& first_fault() const { return first_fault_; }

 private:
  enum class Trick : std::uint8_t { none, repeat, spoil, hang_up };
  struct Held {
    UnitId unit;
    Range range;
    ProblemId problem;
    int stage = 0;
  };
  struct HostState {
    std::vector<Held> held;          // computed, or about to be
    std::vector<Held> acknowledged;  // of the request before: what may be sent again
    std::vector<Held> with_relay;    // which holds them; not acknowledged yet
    std::int64_t beats_left = 0;
    std::int64_t answers = 0;
    Trick trick = Trick::none;
    const std::string* context = nullptr;  // digest of the one that it has: a key of contexts_
    bool composed = false;                 // the request has been made once: it stays what it is
  };

  [[nodiscard]] protocol::WorkRequest work_request(std::size_t host) const;
  [[nodiscard]] protocol::CommitRequest result(std::size_t host, const Held& held) const;
  [[nodiscard]] Request compose(std::size_t host);
  void draw_trick(HostState& state);
  [[nodiscard]] Next take_answer(std::size_t host, const Response& response);
  [[nodiscard]] Next take_work(std::size_t host, const Response& response);
  void take_acknowledgement(std::size_t host, const protocol::SignedStatement& statement, bool verify,
                            std::vector<Held>& open, std::vector<Held>& again);
  static void take_held(HostState& state, const protocol::HeldResult& result, std::vector<Held>& open);
  void take_grants(std::size_t host, protocol::WorkReply& reply, bool verify);
  void take_grant(std::size_t host, const protocol::SignedStatement& statement,
                  const protocol::LeaseChain* chain, bool verify);
  [[nodiscard]] Result<protocol::Grant> read(std::size_t host, const protocol::SignedStatement& statement,
                                             const protocol::LeaseChain* chain, bool verify) const;
  void take_context(HostState& state, protocol::SignedStatement& grant);
  [[nodiscard]] Status check_application(const protocol::Grant& grant, Timestamp now);
  [[nodiscard]] Next refused(std::size_t host, int status);
  [[nodiscard]] Duration pause(Duration least);
  [[nodiscard]] Duration computing(const HostState& state) const;
  static void forget(HostState& state);  // what it holds
  [[nodiscard]] Next vanish(HostState& state);
  void give_up(HostState& state, HostId host);
  void blame(std::int64_t& counter, const std::string& what);

  const WorkOptions options_;
  const std::vector<EnrolledHost> enrolled_;
  const std::vector<std::optional<crypto::PrivateKey>> keys_;  // of hosts under a relay
  const std::string authority_;
  const crypto::ProjectTrust trust_;
  Ledger& ledger_;
  Random random_;
  std::vector<HostState> states_;
  std::map<std::string, Bytes> contexts_;  // of all hosts, by digest; one or two a problem
  std::int64_t answers_ = 0;
  std::string trusted_application_;  // the statements that held last
  Tally tally_;
  std::string first_fault_;
};

}  // namespace gleaner::loadgen

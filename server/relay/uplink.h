// What goes up from a relay and comes down to it: a thread that carries the service's one message to the
// parent (leases/upstream_message.h), with the bytes of small results, looks up what a relay must know
// of a stage, and brings the answer back. Everything that is decided is decided by operations of the service.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server/relay/leases/upstream_message.h"
#include "server/relay/parent_calls.h"
#include "server/relay/result_carrier.h"
#include "server/service/service.h"
#include "shared/base/random.h"
#include "shared/base/repeats.h"

namespace gleaner::relay {

class Uplink {
 public:
  // What the uplink cannot decide, called on its thread. Nothing more is said to the parent after `copied`,
  // or after a `join_again` that was good.
  struct Standing {
    std::function<void()> copied;        // the parent serves another relay with this one's identity
    std::function<Status()> join_again;  // the parent does not know this relay; an error: why not yet
  };
  // Both must outlive it. `root_fingerprint`: of the project's root key.
  Uplink(service::Service& service, ParentCalls& parent, Bytes root_fingerprint, Standing standing);
  ~Uplink();  // stop()
  void start();
  // A call that is under way is waited for.
  void stop();

 private:
  // How long the uplink rests: at least `least`, and at most `most` if nothing stirs it.
  struct Pause {
    Duration least{0}, most{0};
  };
  void run();
  [[nodiscard]] Pause speak();
  // Any thread. An operation or an uploaded result may need a message.
  void stir();
  // The parent does not know this relay, as it said with `error`.
  [[nodiscard]] Status take_unknown(const Error& error);
  void tell_failures(std::vector<protocol::FailureReport> failures);
  [[nodiscard]] Status exchange(service::UpMessage& message);
  // The bytes of small results into their commits; large ones go ahead. The commits of those that are not
  // there yet, cannot be read, or find no room, leave the message.
  void add_bytes(service::UpMessage& message);
  // Whether it can be told now.
  [[nodiscard]] bool add_bytes(protocol::CommitRequest& commit, const service::UpMessage::Result& result);
  // Any thread. What is damaged is given up for lost.
  [[nodiscard]] Result<Bytes> bytes_of(const protocol::CommitRequest& commit,
                                       const service::UpMessage::Result& result);
  [[nodiscard]] Result<service::LeasedStage> look_up(ProblemId problem, int stage);
  [[nodiscard]] Result<std::vector<double>> costs(ProblemId problem, int stage, std::int64_t items);
  // The project's present work key; empty: its document is not believed.
  [[nodiscard]] Bytes work_key();
  // The project's document. If the reply has statements of a work key that the document does not name, a new
  // document is fetched first: hosts find that key in it.
  [[nodiscard]] Result<crypto::ProjectTrust> trust_for(const protocol::WorkReply& reply,
                                                       const std::vector<service::LeasedUnit>& leases);
  // Answers of a former work key leave the reply: the parent makes new ones when their results come again.
  // Any other answer that is not the project's is an error.
  [[nodiscard]] Status check_answers(protocol::WorkReply& reply, const crypto::ProjectTrust& trust);
  template <typename Value>
  [[nodiscard]] Result<Value> decide(std::function<Status(service::Transaction&, Result<Value>&)> operation);

  service::Service& service_;
  ParentCalls& parent_;
  const Bytes root_fingerprint_;
  const Standing standing_;
  protocol::Instance instance_;
  std::unique_ptr<io::HttpClient> http_;
  ResultCarrier carrier_;
  Random random_;
  std::atomic<bool> stopping_ = false;
  int silences_ = 0;      // in a row
  std::string document_;  // of which work_key_ is
  Bytes work_key_;
  bool put_out_ = false;
  Repeats unread_, other_key_;
  std::mutex mutex_;
  bool stirred_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

}  // namespace gleaner::relay

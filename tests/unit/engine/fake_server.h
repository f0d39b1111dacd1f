// A project's server for the engine's tests, behind HttpClient: real keys, real signatures, in memory. It
// hands out the units that a test queues, keeps what is committed, and misbehaves on demand.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/engine/granted.h"
#include "shared/crypto/keys.h"
#include "shared/io/http_client.h"
#include "shared/protocol/join_code.h"
#include "shared/protocol/messages.h"

namespace gleaner::engine::testing {

class FakeServer {
 public:
  FakeServer();

  // An application made of this kernel script; manifest_extra goes into [limits], items_extra into [items].
  void set_application(const std::string& kernel_script, const std::string& manifest_extra = "",
                       const std::string& items_extra = "");
  protocol::Grant make_grant(Range range);
  protocol::SignedStatement sign_grant(const protocol::Grant& grant) const;
  // The same that names its context, which it has with it.
  protocol::SignedStatement sign_short_grant(protocol::Grant grant) const;
  void queue_unit(Range range) {
    queue_.push_back({says_once ? sign_short_grant(make_grant(range)) : sign_grant(make_grant(range))});
  }
  void queue_statement(protocol::SignedStatement statement) { queue_.push_back({std::move(statement)}); }
  void queue_granted(Granted granted) { queue_.push_back(std::move(granted)); }
  // By the present work key.
  [[nodiscard]] protocol::SignedStatement sign(protocol::StatementType type, std::string payload) const;
  [[nodiscard]] protocol::JoinCode join_code() const;
  [[nodiscard]] protocol::SignedStatement project() const;
  [[nodiscard]] protocol::Acknowledgement acknowledge(const protocol::CommitRequest& commit);

  // A new list of what the root key takes back, which is published from now on.
  void revoke(const std::function<void(protocol::RevocationList&)>& change);
  // From now on another work key signs; the one of before is a former one.
  void rotate_work_key();
  [[nodiscard]] const std::string& project_id() const { return project_id_; }
  [[nodiscard]] Bytes work_key() const { return work_key_.public_key(); }
  [[nodiscard]] Bytes signer_key() const { return signer_.public_key(); }

  Result<io::HttpReply> handle(const io::HttpRequest& request);

  // What a test changes.
  std::optional<protocol::SignedStatement> revocations;  // as published
  std::vector<protocol::SignedStatement> former_work_certificates;
  std::optional<protocol::SignedStatement> relay;  // the server is a relay: its certificate
  std::string tls_key;                             // that it shows
  int nonces = 0;                                  // that were asked for
  std::vector<protocol::EnrolRequest> enrolments;  // a test looks at them
  std::string project_name = "Test project";
  HostId host{7};
  Timestamp now{std::chrono::hours{24 * 365 * 56}};
  std::int64_t commit_seconds = 60;
  std::function<std::optional<Result<io::HttpReply>>(const io::HttpRequest&)> before;  // answers instead
  std::function<std::optional<protocol::SignedStatement>(protocol::SignedStatement)> on_acknowledgement;
  std::optional<protocol::InstanceOrder> instance;  // said with each reply
  std::vector<protocol::UnitOrder> orders;          // given with the next heartbeat or work reply
  double retry_after = 5;
  bool refuse_all = false;
  // As a relay: work requests' results are held, and acknowledged when it may tell, in this order.
  bool holds = false;
  bool tells = false;
  std::deque<protocol::SignedStatement> to_tell;
  bool names_units = false;  // each unit's problem has another name: "words-BEGIN"
  bool says_once = true;  // what the problem's grants have in common; false: a server that does not know how
  void forget() {         // as if nothing had ever been committed
    accepted_until_.clear();
    taken_.clear();
  }
  std::map<std::string, Bytes> blobs;
  std::map<std::string, Bytes> uploads;
  std::int64_t breaks_after = INT64_MAX;  // bytes of a body that is taken as it comes
  std::vector<protocol::Input> inputs;    // of grants made from now on

  // What a test looks at.
  std::map<std::int64_t, Bytes> items;  // accepted
  std::map<std::int64_t, int> times;    // how often each item was accepted in different commits
  std::vector<protocol::FailureReport> failures;
  std::vector<protocol::HeartbeatRequest> heartbeats;
  std::vector<protocol::WorkRequest> work;
  std::vector<protocol::CommitRequest> commits;
  std::vector<std::string> requests;  // "METHOD /path"
  std::set<std::int64_t> finished_units;
  std::string archive_digest;

 private:
  io::HttpReply work_reply(const std::string& body);
  [[nodiscard]] std::optional<std::int64_t> revocations_number() const;
  [[nodiscard]] protocol::SignedStatement work_certificate() const;

  crypto::PrivateKey root_;
  crypto::PrivateKey work_key_;
  crypto::PrivateKey signer_;
  std::string project_id_;
  protocol::SignedStatement application_;
  protocol::SignedStatement signer_certificate_;
  protocol::RevocationList revocation_list_;
  std::deque<Granted> queue_;
  std::map<std::int64_t, std::int64_t> accepted_until_;  // unit -> end of the last commit
  std::set<std::string> taken_;                          // commits seen, for repetitions
  std::int64_t next_unit_ = 1;
};

// What a real client does with a body that somebody takes as it comes; `bytes_max`: then the line breaks.
[[nodiscard]] Result<io::HttpReply> handed_over(const io::HttpRequest& request, Result<io::HttpReply> reply,
                                                std::int64_t bytes_max = INT64_MAX);

class FakeServerClient final : public io::HttpClient {
 public:
  explicit FakeServerClient(FakeServer& server) : server_(server) {}
  Result<io::HttpReply> send(const io::HttpRequest& request) override {
    auto reply = handed_over(request, server_.handle(request), server_.breaks_after);
    if (reply.ok()) reply->tls_key = server_.tls_key;
    return reply;
  }

 private:
  FakeServer& server_;
};

// A kernel in plain sh: item I of any stage is "item-I". `extra` is run before each item ($i is its index).
std::string script_kernel(const std::string& extra = "");
std::string expected_item(std::int64_t index);

[[nodiscard]] io::HttpReply problem_reply(int status, const std::string& detail);

}  // namespace gleaner::engine::testing

// Joining a project, or another of its places, while the client runs: `gleaner-client join` finds the state
// in use and tells the client over its control socket. The client joins on a thread of its own, while its
// kernels compute, and starts anew to serve what it has joined. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/join/join.h"
#include "client/state/projects.h"
#include "shared/transport/workers.h"

namespace gleaner::program {

// To a project, with what this computer knows to be revoked, and the relay that it has joined.
class Connection {
 public:
  Connection(const protocol::JoinCode& code, const state::ProjectDirectory& project);
  [[nodiscard]] joining::Ways ways() const { return {*http_, inquiring_.get(), pinned_.get()}; }
  [[nodiscard]] io::HttpClient& http() const { return *http_; }

 private:
  std::shared_ptr<io::PinnedTlsKey> pinned_ = std::make_shared<io::PinnedTlsKey>();
  std::unique_ptr<io::HttpClient> http_, inquiring_;
};

// Joins with this code in this state directory. Blocks.
[[nodiscard]] Result<state::Identity> join_with(const state::StateDirectory& state,
                                                const host::Machine& machine, const protocol::JoinCode& code,
                                                const joining::JoinFacts& facts);

class LateJoin {
 public:
  // invalid: it is no join code; conflict: another one is under way. `machine` outlives the workers.
  [[nodiscard]] Status begin(transport::Workers& workers, const state::StateDirectory& state,
                             const host::Machine& machine, const std::string& code,
                             const joining::JoinFacts& facts);
  // The workers that had it are no more.
  void start_anew();
  // What came of the last one, in a sentence; absent: it is under way. not_found: there was none.
  [[nodiscard]] std::optional<Result<std::string>> outcome() const;
  // Something was joined that is not served yet. Once.
  [[nodiscard]] bool take_joined() { return std::exchange(joined_, false); }

 private:
  bool under_way_ = false, joined_ = false;
  std::optional<Result<std::string>> outcome_;
};

// The client that runs with this state joins. not_found: none runs.
[[nodiscard]] Result<std::string> join_by_daemon(const state::StateDirectory& state, const std::string& code,
                                                 const std::string& name);

}  // namespace gleaner::program

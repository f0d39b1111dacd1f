// Hosts: how they join, who they are, what an administrator sees of them and does with them. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/service/access/enrolment_proof.h"
#include "server/service/access/joins.h"
#include "server/service/access/subtree.h"
#include "server/service/core/ban_registry.h"
#include "server/service/core/kernel.h"
#include "server/service/core/load.h"
#include "server/service/core/revocations.h"
#include "server/service/core/tokens.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/messages.h"

namespace gleaner::service {

class Enrolment {
 public:
  Enrolment(Kernel& kernel, const Tokens& tokens, const BanRegistry& bans, const ProjectSecrets& secrets,
            const PublishedRevocations& revocations, Subtree& subtree)
      : kernel_(kernel),
        tokens_(tokens),
        bans_(bans),
        secrets_(secrets),
        revocations_(revocations),
        subtree_(subtree),
        joins_(kernel.settings().configuration.joins_per_hour),
        nonces_(kernel.settings().configuration.joins_per_hour) {}

  // Which host is it? From memory. unauthorized, banned: why it is none.
  [[nodiscard]] Result<HostId> authenticate_host(const std::string& token) const;
  // The same, for who is to be served (load.h).
  [[nodiscard]] Result<Load::Visitor> visitor(std::string_view token, const std::string& network) const;

  // What a volunteer's client must know of the project.
  [[nodiscard]] protocol::SignedStatement project();
  // For a proof, of the project's server; a relay asks its parent. unavailable: not now.
  void nonce(const std::string& network, Done<protocol::EnrolmentNonce> done);
  // What whoever joins proves, at the project's server. untrusted: what is wrong with it.
  [[nodiscard]] Result<EnrolmentProof> check_proof(const protocol::EnrolRequest& request) const;
  // Shows the enrolment secret, proves its own key, and gets a token. The same key on the same machine is the
  // same host: it gets a new token, the old one ends. A relay gets a certificate, too. Hosts that join
  // through a relay: relays.h. `network`: where it comes from (Joins).
  void enrol(protocol::EnrolRequest request, const std::string& network, Done<protocol::EnrolReply> done);
  void leave(HostId host, StatusDone done);
  // Whether a secret may be tried from there. unavailable: not now.
  [[nodiscard]] Status may_try(const std::string& network);

 private:
  Kernel& kernel_;
  const Tokens& tokens_;
  const BanRegistry& bans_;
  const ProjectSecrets& secrets_;
  const PublishedRevocations& revocations_;
  Subtree& subtree_;
  Joins joins_, nonces_;
  std::mutex mutex_;
  std::optional<protocol::SignedStatement> project_;  // signed once for each revocation list
  std::int64_t project_revocations_ = 0;              // number of the list in it
};

}  // namespace gleaner::service

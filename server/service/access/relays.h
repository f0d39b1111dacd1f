// Relays, and the hosts under them: who may be under whom, and what the project says of it. A host that joins
// through a relay signs that it does (enrolment_proof.h); its row names the relay, and it has no token: what
// it delivers comes through its relay, which cannot take a host that did not just ask to be there. A host
// that is known by its key and machine stays the same host with its record, whichever way it joins.
//
// A relay that leaves or is put out takes those under it with it (end_host.h). A relay itself passes on what
// it is asked of those under it (subtree.h). Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/service/access/codes.h"
#include "server/service/access/enrolment.h"
#include "server/service/access/subtree.h"
#include "server/service/core/revocations.h"

namespace gleaner::service {

class Relays {
 public:
  Relays(Kernel& kernel, Enrolment& enrolment, Codes& codes, Subtree& subtree, const ProjectSecrets& secrets,
         const PublishedRevocations& revocations)
      : kernel_(kernel),
        enrolment_(enrolment),
        codes_(codes),
        subtree_(subtree),
        secrets_(secrets),
        revocations_(revocations) {}

  // The project's word that this is a relay. not_found: it is the project's server.
  [[nodiscard]] Result<protocol::SignedStatement> own_certificate() const;

  // Of itself. not_found: it is the project's server.
  void status(Done<protocol::RelayStatus> done);

  // Those that were allowed, by name.
  void list(Done<std::vector<protocol::RelayInfo>> done);
  // A code that admits one, once. conflict: there was a code of this name.
  void allow(const protocol::AddRelay& request, Done<protocol::MadeCode> done);
  // So many hosts may be under it from now on. Those that are, stay, whatever the quota: of fewer places
  // nobody else has one before some have left. not_found: no relay was allowed by that name.
  void set_quota(const std::string& name, const protocol::RelayQuota& quota, Done<protocol::RelayInfo> done);

  // A fresh RelayCertificate of `relay`, which asks for it itself or through the relay `asker` that it is
  // under. forbidden: it is no relay, or not of that one. untrusted: its key is revoked.
  void certificate(HostId asker, HostId relay, Done<protocol::SignedStatement> done);
  // A host joins through the relay `asker`, or through one under it, with the proof that it wants to. Again
  // with the same proof is the same. A relay shows the secret of a code that admits one, too. `network`: of
  // `asker`. forbidden, banned, invalid, untrusted: why not, as its owner is told.
  void join(HostId asker, protocol::EnrolRequest request, const std::string& network,
            Done<protocol::RelayHostReply> done);
  // A host under `asker` left the project. One that is not under it, any more, is no mistake.
  void leave(HostId asker, HostId host, StatusDone done);

 private:
  Kernel& kernel_;
  Enrolment& enrolment_;
  Codes& codes_;
  Subtree& subtree_;
  const ProjectSecrets& secrets_;
  const PublishedRevocations& revocations_;
};

}  // namespace gleaner::service

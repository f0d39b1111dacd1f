// Proof of possession. A host or relay that joins signs a nonce of the project's with its host key, so that a
// public key and a machine's digest, which relays and backups have, let nobody join as that host. A nonce is
// the time at which it was made, signed by the work key: nothing is kept of it, and every server of the
// project knows it, behind front ends and after a restart, too. A proof counts once: its host's row has the
// time of its nonce (proved_at), and a host proves itself only with newer ones. Pure.
#pragma once

#include <string>

#include "server/storage/store.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

// Two requests that may each take their time, on a way with several relays.
inline constexpr Duration nonce_valid = std::chrono::minutes{5};
// So far the clocks of a project's servers may differ.
inline constexpr Duration nonce_early = std::chrono::minutes{1};

[[nodiscard]] Bytes make_nonce(const crypto::PrivateKey& work_key, Timestamp now);
// untrusted: it is none of the project's with this work key, or too old.
[[nodiscard]] Status check_nonce(const Bytes& nonce, const Bytes& work_key, Timestamp now);

struct EnrolmentProof {
  protocol::Enrolment said;
  Timestamp asked_at;  // when its nonce was made, as that says
};
// That the request's key signed just this request. Whose nonce it has is another question: a relay leaves
// that to the project. untrusted: what is wrong with it.
[[nodiscard]] Result<EnrolmentProof> read_proof(const protocol::EnrolRequest& request,
                                                const std::string& project);
// untrusted: the host of this row proved itself with this nonce before, or with a newer one.
[[nodiscard]] Status check_newer(const EnrolmentProof& proof, const storage::HostRow& row, Timestamp now);

}  // namespace gleaner::service

// What a child of a relay believes. The work key certifies relays (RelayCertificate); the project's Grant
// gives a range to one, which grants parts of it on, to hosts and to relays. A child checks every link up to
// the project's Grant, which alone says what is computed, with which parameters and inputs: a relay only says
// which of its items, until when, and from which state (`begun`, which as ever is what some host's kernel
// saved). Errors are ErrorKind::untrusted and say which link broke. Pure; thread-safe.
#pragma once

#include "shared/crypto/statements.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::crypto {

// Signed by the project's work key or by a former one, of this project, valid at `now`; neither the relay's
// key nor its TLS key is revoked.
[[nodiscard]] Result<protocol::RelayCertificate> check_relay_certificate(
    const protocol::SignedStatement& statement, const ProjectTrust& trust, Timestamp now);

// The project's Grant with what the relays made of it: unit, host, range, cost, begun, commit_seconds,
// issued_at, deadline and reason are those of `statement`, a relay's grant; `direct` is not set, as the
// project's addresses are for hosts that ask it themselves. Checked: from each statement to the next above it
// its digest is right, its range inside, its deadline not later. Who signed, and for whom, is not looked at.
[[nodiscard]] Result<protocol::Grant> read_relayed_grant(const protocol::SignedStatement& statement,
                                                         const protocol::LeaseChain& chain);

// The same, and: every relay on the way has a certificate that holds (above), each grant is signed by the
// relay to which the statement above gave the range, that of the project by its work key or a former one;
// `statement` is for `host`; no deadline is past.
[[nodiscard]] Result<protocol::Grant> check_relayed_grant(const protocol::SignedStatement& statement,
                                                          const protocol::LeaseChain& chain,
                                                          const ProjectTrust& trust, HostId host,
                                                          Timestamp now);

// No relay of it is on the list, and nobody who certified one.
[[nodiscard]] Status check_not_revoked(const protocol::LeaseChain& chain, const Revocations& revocations);

// Signed by the host whose key that is, of this project. What it says of the result is not looked at.
[[nodiscard]] Result<protocol::Delivery> check_delivery(const protocol::SignedStatement& statement,
                                                        std::string_view host_key,
                                                        const std::string& project);

// The same of what it says of a kernel that failed.
[[nodiscard]] Result<protocol::Failure> check_failure(const protocol::SignedStatement& statement,
                                                      std::string_view host_key, const std::string& project);

}  // namespace gleaner::crypto

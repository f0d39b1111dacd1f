#include "server/service/access/enrolment_proof.h"

#include <cstdint>

#include "shared/base/figures.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

constexpr std::size_t time_bytes = 8;  // microseconds since 1970, big-endian
constexpr std::size_t signature_bytes = 64;

Error untrusted(const std::string& why) {
  return {ErrorKind::untrusted, "the proof of the joining host's key " + why};
}

Bytes to_bytes(Timestamp time) {
  const auto count = static_cast<std::uint64_t>(time.time_since_epoch() / std::chrono::microseconds{1});
  Bytes bytes;
  for (int shift = 56; shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<std::uint8_t>(count >> shift));
  return bytes;
}

// As the bytes of statements, of a type that no statement has.
std::string signed_bytes(std::string_view time) {
  return std::string("gleaner-1\nenrolment-nonce\n").append(time);
}

Result<Timestamp> time_of(const Bytes& nonce) {
  if (nonce.size() != time_bytes + signature_bytes) return untrusted("has a nonce of the wrong length");
  std::uint64_t count = 0;
  for (const char byte : nonce.substr(0, time_bytes)) count = count << 8 | static_cast<std::uint8_t>(byte);
  return Timestamp{std::chrono::microseconds{static_cast<std::int64_t>(count)}};
}

}  // namespace

Bytes make_nonce(const crypto::PrivateKey& work_key, Timestamp now) {
  const Bytes time = to_bytes(now);
  return time + work_key.sign(signed_bytes(time));
}

Status check_nonce(const Bytes& nonce, const Bytes& work_key, Timestamp now) {
  TRY_ASSIGN(const Timestamp made_at, time_of(nonce));
  const std::string_view bytes = nonce;
  if (!crypto::verify(work_key, signed_bytes(bytes.substr(0, time_bytes)), bytes.substr(time_bytes)))
    return untrusted(
        "has a nonce that this project did not make, or made with its keys of before: join again");
  if (made_at < now - nonce_valid || made_at > now + nonce_early)
    return untrusted("has a nonce of " + utc_text(made_at) + ", which is good for five minutes: join again");
  return {};
}

Result<EnrolmentProof> read_proof(const protocol::EnrolRequest& request, const std::string& project) {
  if (!request.proof)
    return untrusted("is missing: its client is older than this server; install the present version");
  TRY(crypto::check_signature(*request.proof, protocol::StatementType::enrolment));
  if (request.proof->key != request.host_key) return untrusted("is not signed by that key");
  auto said = protocol::decode<protocol::Enrolment>(request.proof->payload);
  if (!said.ok()) return untrusted("cannot be read: " + said.error().message);
  if (said->project != project) return untrusted("is for another project");
  if (said->host_key != request.host_key || said->machine != request.machine)
    return untrusted("is of another host");
  const auto tls_key = request.relay ? std::optional(request.relay->tls_key) : std::nullopt;
  if (said->tls_key != tls_key) return untrusted("is for another TLS key than the relay's");
  TRY_ASSIGN(const Timestamp asked_at, time_of(said->nonce));
  return EnrolmentProof{std::move(*said), asked_at};
}

Status check_newer(const EnrolmentProof& proof, const storage::HostRow& row, Timestamp now) {
  // A time to come is that of a clock that was wrong, and would keep the host out until then.
  const bool passed = row.proved_at <= now + nonce_early;
  if (proof.asked_at > row.proved_at || (!passed && proof.asked_at != row.proved_at)) return {};
  return untrusted("was used already, or is older than that of " + utc_text(row.proved_at) +
                   ", with which the host joined last: join again");
}

}  // namespace gleaner::service

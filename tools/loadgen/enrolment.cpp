#include "tools/loadgen/enrolment.h"

#include "shared/base/version.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"
#include "tools/loadgen/http_text.h"

namespace gleaner::loadgen {
namespace {

constexpr Duration pause_after_error = std::chrono::seconds{1};

}  // namespace

Enrolment::Enrolment(const protocol::JoinCode& code, transport::Found found, std::string authority,
                     std::int64_t hosts)
    : code_(code),
      found_(std::move(found)),
      authority_(std::move(authority)),
      machines_(static_cast<std::size_t>(hosts)) {
  enrolled_.reserve(machines_.size());
}

Request Enrolment::request(std::size_t host) {
  Machine& machine = machines_[host];
  if (machine.nonce.empty()) return {request_text(authority_, transport::nonce_path, "", "")};
  if (!machine.key) machine.key = crypto::PrivateKey::generate();
  protocol::EnrolRequest request;
  request.secret = code_.enrolment_secret;
  request.host_key = machine.key->public_key();
  request.machine = crypto::sha256_hex(request.host_key);
  request.name = "load-" + std::to_string(host + 1);
  request.platform = "x86_64-linux";
  request.cores = 1;
  request.memory_bytes = std::int64_t{4} << 30;
  request.client_version = version_text;
  request.benchmark = protocol::Benchmark{1000, system_clock().now()};
  request.proof = transport::proof_of(request, found_, *machine.key, machine.nonce);
  return {request_text(authority_, "/v1/enrol", "", protocol::encode(request))};
}

Next Enrolment::answered(std::size_t host, const Response& response) {
  Machine& machine = machines_[host];
  if (response.status == 400 || response.status == 403) return {false};  // the code does not hold
  const bool asked = machine.nonce.empty();
  machine.nonce.clear();  // it is good for one proof
  if (response.status != 200) return {true, pause_after_error};
  if (asked) {
    auto answer = protocol::decode<protocol::EnrolmentNonce>(response.body);
    if (!answer.ok()) return {true, pause_after_error};
    machine.nonce = std::move(answer->nonce);
    return {true};
  }
  auto reply = protocol::decode<protocol::EnrolReply>(response.body);
  if (!reply.ok()) return {true, pause_after_error};
  // Only what is delivered to a relay is signed.
  enrolled_.push_back(
      {reply->host, std::move(reply->token), found_.relay ? machine.key->to_pem() : std::string()});
  return {false};
}

}  // namespace gleaner::loadgen

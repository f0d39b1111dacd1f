#include "tools/loadgen/enrolment.h"

#include "shared/base/version.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"
#include "tools/loadgen/http_text.h"

namespace gleaner::loadgen {
namespace {

constexpr std::size_t key_bytes = 32;
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
  if (machine.key.empty() && found_.relay) machine.own = crypto::PrivateKey::generate();
  if (machine.key.empty())
    machine.key = machine.own ? machine.own->public_key() : crypto::random_secret(key_bytes);
  protocol::EnrolRequest request;
  request.secret = code_.enrolment_secret;
  request.host_key = machine.key;
  request.machine = crypto::sha256_hex(machine.key);
  request.name = "load-" + std::to_string(host + 1);
  request.platform = "x86_64-linux";
  request.cores = 1;
  request.memory_bytes = std::int64_t{4} << 30;
  request.client_version = version_text;
  request.benchmark = protocol::Benchmark{1000, system_clock().now()};
  if (machine.own) request.proof = transport::proof_of(request, found_, *machine.own, system_clock().now());
  return {request_text(authority_, "/v1/enrol", "", protocol::encode(request))};
}

Next Enrolment::answered(std::size_t host, const Response& response) {
  if (response.status == 400 || response.status == 403) return {false};  // the code does not hold
  if (response.status != 200) return {true, pause_after_error};
  auto reply = protocol::decode<protocol::EnrolReply>(response.body);
  if (!reply.ok()) return {true, pause_after_error};
  const auto& own = machines_[host].own;
  enrolled_.push_back({reply->host, std::move(reply->token), own ? own->to_pem() : std::string()});
  return {false};
}

}  // namespace gleaner::loadgen

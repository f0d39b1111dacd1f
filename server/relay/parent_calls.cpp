#include "server/relay/parent_calls.h"

#include <charconv>
#include <utility>

#include "server/relay/join.h"
#include "shared/base/limits.h"
#include "shared/base/version.h"
#include "shared/crypto/relay_chain.h"
#include "shared/protocol/codec.h"
#include "shared/transport/find_server.h"

namespace gleaner::relay {
namespace {

constexpr Duration document_valid = std::chrono::hours{1};
constexpr Duration retry_after = std::chrono::minutes{1};
constexpr Duration least_pause = std::chrono::seconds{1};
// A parent that is started with new keys is mostly asked while it is not there yet, and until it has answered
// nothing that they sign is believed.
constexpr Duration wanted_pause = std::chrono::seconds{10};
constexpr std::size_t idle_max = 8;

std::string user_agent() {
  return std::string("gleaner-relay/") + version_text;
}

// What is wrong between this relay and its parent is no fault of who asks this relay.
Error for_children(const Error& error) {
  const bool ours = error.kind == ErrorKind::unauthorized || error.kind == ErrorKind::io ||
                    error.kind == ErrorKind::internal;
  if (!ours) return error;
  return {ErrorKind::unavailable, "this relay's own parent refuses it: " + error.message};
}

// Of a Content-Range: "bytes 0-9/100".
std::optional<std::int64_t> whole_length(const io::HttpReply& reply) {
  const auto header = reply.headers.find("content-range");
  if (header == reply.headers.end()) return std::nullopt;
  const std::string& text = header->second;
  const auto slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  std::int64_t all = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + slash + 1, end, all);
  if (parsed.ec != std::errc{} || parsed.ptr != end || all < 0) return std::nullopt;
  return all;
}

bool ended(const protocol::SignedStatement& statement, Timestamp now) {
  const auto certificate = protocol::decode<protocol::RelayCertificate>(statement.payload);
  return !certificate.ok() || now >= certificate->not_after;
}

// Whether half of it is over.
bool half_over(const protocol::SignedStatement& statement, Timestamp now) {
  const auto certificate = protocol::decode<protocol::RelayCertificate>(statement.payload);
  return !certificate.ok() ||
         now >= certificate->not_before + (certificate->not_after - certificate->not_before) / 2;
}

}  // namespace

// Whom the connection does not trust is a fault of the network, or of a parent whose TLS key was changed:
// that is found out.
class ParentCalls::Line final : public io::HttpClient {
 public:
  Line(ParentCalls& calls, std::unique_ptr<io::HttpClient> client)
      : calls_(calls), client_(std::move(client)) {}

  Result<io::HttpReply> send(const io::HttpRequest& request) override {
    auto reply = client_->send(request);
    if (reply.ok() || reply.error().kind != ErrorKind::untrusted) return reply;
    calls_.want_document();
    return Error{ErrorKind::unavailable, reply.error().message};
  }

 private:
  ParentCalls& calls_;
  const std::unique_ptr<io::HttpClient> client_;
};

ParentCalls::ParentCalls(io::Files& files, RelayDirectory directory, Membership membership,
                         const Clock& clock, std::function<void(const std::string&)> log)
    : files_(files),
      directory_(std::move(directory)),
      clock_(clock),
      log_(std::move(log)),
      server_{membership.code.base_url(), membership.token},
      membership_(std::move(membership)) {
  obey(membership_, clock_.now());
}

ParentCalls::~ParentCalls() {
  stop();
}

void ParentCalls::start() {
  if (ended(membership_.certificate, clock_.now())) wanted_ = !renew();
  thread_ = std::thread([this] { run(); });
}

void ParentCalls::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ParentCalls::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    const bool wanted = std::exchange(wanted_, false);
    const bool due =
        wanted || clock_.steady() >= document_due_ || half_over(membership_.certificate, clock_.now());
    bool renewed = true;
    if (due) {
      lock.unlock();
      renewed = renew();
      lock.lock();
      document_due_ = clock_.steady() + (renewed ? document_valid : retry_after);
      wanted_ = wanted_ || (wanted && !renewed);
    }
    // The pause bounds what a parent can cause by what it answers.
    const Duration pause = renewed ? least_pause : wanted_ ? wanted_pause : retry_after;
    wake_.wait_for(lock, pause, [this] { return stopped_; });
    wake_.wait_for(lock, retry_after, [this] { return stopped_ || wanted_; });
  }
}

bool ParentCalls::renew() {
  const Timestamp now = clock_.now();
  if (const Status document = fetch_document(); !document.ok()) {
    log_("the project's document cannot be renewed, and the one of before holds: " +
         document.error().message);
    return false;
  }
  if (!half_over(membership().certificate, now)) return true;
  const Status certificate = renew_certificate(now);
  log_(certificate.ok() ? "the certificate of this relay is renewed"
                        : "the certificate of this relay cannot be renewed: " + certificate.error().message);
  return certificate.ok();
}

Status ParentCalls::fetch_document() {
  const std::lock_guard one(renewing_);
  const Timestamp now = clock_.now();
  Membership fresh = membership();
  // Not the key that the other connections go on with: whether that is changed turns out here.
  const auto pinned = std::make_shared<io::PinnedTlsKey>();
  const auto http =
      io::make_curl_client(transport::vouchers_of(fresh.code), user_agent(), {}, refused_, pinned);
  const auto inquiring = io::make_inquiring_client(user_agent());
  TRY_ASSIGN(const auto found, transport::find_server({*http, inquiring.get(), pinned.get()}, fresh.code,
                                                      fresh.revocations, now));
  const auto same_relay = [&] {
    if (found.relay.has_value() != fresh.above.has_value()) return false;
    if (!found.relay) return true;
    const auto before = protocol::decode<protocol::RelayCertificate>(fresh.above->payload);
    return before.ok() && before->relay == found.relay->certificate.relay;
  };
  if (!same_relay())
    return Error{ErrorKind::untrusted, "another one than this relay joined answers at " +
                                           transport::place_of(fresh.code) +
                                           ": join again, with a code of `gleaner-admin relay allow`"};
  fresh.project = found.document;
  fresh.revocations = found.trust.revocations;
  if (found.relay) fresh.above = found.relay->statement;
  TRY(save_statements(files_, directory_, fresh));
  obey(fresh, now);
  const std::lock_guard lock(mutex_);
  membership_ = std::move(fresh);
  heard_ = now;
  return {};
}

Status ParentCalls::renew_certificate(Timestamp now) {
  const std::lock_guard one(renewing_);
  Membership fresh = membership();
  TRY_ASSIGN(const auto statement, transport::understand<protocol::SignedStatement>(
                                       call(transport::get_request(server_, "/v1/relay/certificate"))));
  TRY_ASSIGN(const auto trust,
             crypto::check_project(fresh.project, fresh.code.root_fingerprint, now, fresh.revocations));
  TRY_ASSIGN(const auto before, protocol::decode<protocol::RelayCertificate>(fresh.certificate.payload));
  TRY_ASSIGN(const auto certificate, crypto::check_relay_certificate(statement, trust, now));
  if (certificate.relay != before.relay || certificate.key != before.key ||
      certificate.tls_key != before.tls_key)
    return Error{ErrorKind::untrusted, "the certificate that came is of another relay"};
  fresh.certificate = statement;
  TRY(save_statements(files_, directory_, fresh));
  const std::lock_guard lock(mutex_);
  membership_ = std::move(fresh);
  return {};
}

void ParentCalls::obey(const Membership& membership, Timestamp now) {
  std::vector<std::string> refused;
  if (membership.revocations.number() > 0)
    for (const auto& one : membership.revocations.list().tls_keys) refused.push_back(one.digest);
  refused_->set(std::move(refused));
  pinned_->set(parent_tls_key(membership, now));
}

Membership ParentCalls::membership() const {
  const std::lock_guard lock(mutex_);
  return membership_;
}

void ParentCalls::want_document() {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  wake_.notify_all();
}

protocol::SignedStatement ParentCalls::project() {
  const std::lock_guard lock(mutex_);
  return membership_.project;
}

protocol::SignedStatement ParentCalls::certificate() {
  const std::lock_guard lock(mutex_);
  return membership_.certificate;
}

transport::Server ParentCalls::server() const {
  return server_;
}

std::unique_ptr<io::HttpClient> ParentCalls::make_client() {
  auto client =
      io::make_curl_client(transport::vouchers_of(membership().code), user_agent(), {}, refused_, pinned_);
  return std::make_unique<Line>(*this, transport::metered(std::move(client), meter_));
}

protocol::HostSpeeds ParentCalls::link() const {
  protocol::HostSpeeds speeds;
  speeds.download_bytes_per_second = meter_->download();
  speeds.upload_bytes_per_second = meter_->upload();
  return speeds;
}

void ParentCalls::heard(std::int64_t revocations) {
  {
    const std::lock_guard lock(mutex_);
    heard_ = clock_.now();
    if (revocations <= membership_.revocations.number()) return;
  }
  want_document();
}

std::string ParentCalls::place() {
  const std::lock_guard lock(mutex_);
  return transport::place_of(membership_.code);
}

Timestamp ParentCalls::heard_at() {
  const std::lock_guard lock(mutex_);
  return heard_;
}

transport::Answer ParentCalls::call(io::HttpRequest request) {
  std::unique_ptr<io::HttpClient> line;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      line = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!line) line = make_client();
  transport::Answer answer = transport::call(*line, server_, std::move(request));
  const std::lock_guard lock(mutex_);
  if (answer.reply.ok()) heard_ = clock_.now();
  if (idle_.size() < idle_max) idle_.push_back(std::move(line));
  return answer;
}

Result<protocol::EnrolmentNonce> ParentCalls::nonce() {
  auto nonce = transport::understand<protocol::EnrolmentNonce>(
      call(transport::get_request(server_, transport::nonce_path)));
  if (!nonce.ok()) return for_children(nonce.error());
  return nonce;
}

Result<protocol::RelayHostReply> ParentCalls::join(const protocol::EnrolRequest& request) {
  auto reply = transport::understand<protocol::RelayHostReply>(
      call(transport::json_request(server_, "/v1/relay/hosts", protocol::encode(request))));
  if (!reply.ok()) return for_children(reply.error());
  return reply;
}

Status ParentCalls::left(HostId host) {
  const auto answer = call(transport::json_request(server_, "/v1/relay/hosts/leave",
                                                   protocol::encode(protocol::RelayHostLeft{host})));
  return answer.reply.ok() ? Status{} : Status{answer.reply.error()};
}

Result<protocol::SignedStatement> ParentCalls::certificate_of(HostId relay) {
  auto statement = transport::understand<protocol::SignedStatement>(
      call(transport::get_request(server_, "/v1/relay/certificate?host=" + std::to_string(relay.value))));
  if (!statement.ok()) return for_children(statement.error());
  return statement;
}

Result<Membership> ParentCalls::join_again(const RelayKeys& keys, const std::string& name) {
  const Membership present = membership();
  const auto pinned = std::make_shared<io::PinnedTlsKey>();  // whoever answers now
  const auto http =
      io::make_curl_client(transport::vouchers_of(present.code), user_agent(), {}, refused_, pinned);
  const auto inquiring = io::make_inquiring_client(user_agent());
  return relay::join_again({*http, inquiring.get(), pinned.get()}, keys, present, name, clock_.now());
}

Result<BlobPiece> ParentCalls::blob(const std::string& digest, std::int64_t offset, std::int64_t bytes_max) {
  // From a byte before: a range that begins where the blob ends would be refused.
  const std::int64_t from = std::max<std::int64_t>(offset - 1, 0);
  io::HttpRequest request = transport::get_request(server_, "/v1/blobs/" + digest);
  request.headers.emplace_back(
      "Range", "bytes=" + std::to_string(from) + "-" + std::to_string(offset + bytes_max - 1));
  request.reply_bytes_max = bytes_max + 1;
  request.timeout = std::chrono::seconds{limits::request_seconds_max};
  Bytes body;
  bool whole = false;  // which is as good, where it fits
  request.take = [&](int status, std::string_view bytes) -> Status {
    whole = status == 200;
    body += bytes;
    return {};
  };
  const transport::Answer answer = call(std::move(request));
  const auto bytes = static_cast<std::int64_t>(body.size());
  const std::int64_t skip = whole ? offset : offset - from;
  const auto rest = [&] { return body.substr(static_cast<std::size_t>(skip)); };
  if (!answer.reply.ok() && answer.reply.error().kind == ErrorKind::unavailable && bytes > skip)
    return BlobPiece{rest(), {}};
  if (!answer.reply.ok()) return for_children(answer.reply.error());
  const auto all = whole ? std::optional(bytes) : whole_length(*answer.reply);
  if (!all || skip > bytes)
    return Error{ErrorKind::unavailable, "the parent's answer is no part of " + digest};
  return BlobPiece{rest(), all};
}

}  // namespace gleaner::relay

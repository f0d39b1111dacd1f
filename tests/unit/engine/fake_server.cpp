#include "tests/unit/engine/fake_server.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "shared/archive/bundle_archive.h"
#include "shared/bundle/bundle.h"
#include "shared/crypto/statements.h"
#include "shared/io/compression.h"
#include "shared/io/files.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/segment.h"
#include "tests/catch.h"

namespace gleaner::engine::testing {
namespace {

using protocol::StatementType;

io::HttpReply reply_with(std::string body, int status = 200) {
  io::HttpReply reply;
  reply.status = status;
  reply.body = std::move(body);
  reply.round_trip = std::chrono::milliseconds{1};
  return reply;
}

std::string header(const io::HttpRequest& request, const std::string& name) {
  for (const auto& [key, value] : request.headers)
    if (key == name) return value;
  return "";
}

}  // namespace

std::string script_kernel(const std::string& extra) {
  return R"(#!/bin/sh
while read -r command a b c; do
  case $command in
    gleaner) echo "ready 1" ;;
    problem) test -f "$a/parameters.json" && echo ok || echo "error no parameters" ;;
    unit) i=$b
      while [ "$i" -lt "$c" ]; do
)" + extra +
         R"(
        text="item-$i"
        printf 'item %s %s\n%s' "$i" "${#text}" "$text"
        i=$((i + 1))
      done
      echo "done $c" ;;
    quit) exit 0 ;;
    end) ;;
    *) echo "error unknown command" ;;
  esac
done
)";
}

std::string expected_item(std::int64_t index) {
  return "item-" + std::to_string(index);
}

Result<io::HttpReply> handed_over(const io::HttpRequest& request, Result<io::HttpReply> reply,
                                  std::int64_t bytes_max) {
  if (!reply.ok() || !request.take || (reply->status != 200 && reply->status != 206)) return reply;
  const std::string_view body = std::string_view(reply->body).substr(0, static_cast<std::size_t>(bytes_max));
  for (std::size_t at = 0; at < body.size(); at += 1000) {
    TRY(request.take(reply->status, body.substr(at, 1000)));
    reply->taken += static_cast<std::int64_t>(body.substr(at, 1000).size());
  }
  if (body.size() < reply->body.size()) return Error{ErrorKind::unavailable, "the line broke"};
  reply->body.clear();
  return reply;
}

io::HttpReply problem_reply(int status, const std::string& detail) {
  protocol::ProblemDocument document;
  document.type = "urn:gleaner:error:test";
  document.title = detail;
  document.status = status;
  document.detail = detail;
  return reply_with(protocol::encode(document), status);
}

FakeServer::FakeServer()
    : root_(crypto::PrivateKey::generate()),
      work_key_(crypto::PrivateKey::generate()),
      signer_(crypto::PrivateKey::generate()),
      project_id_(to_hex(crypto::fingerprint(root_.public_key()))) {
  protocol::KeyCertificate certificate{project_id_, signer_.public_key(), "signer",
                                       now - std::chrono::hours{1}, now + std::chrono::hours{24 * 365}};
  signer_certificate_ =
      crypto::sign_statement(StatementType::signer_certificate, protocol::encode(certificate), root_);
}

protocol::JoinCode FakeServer::join_code() const {
  protocol::JoinCode code;
  code.host = "127.0.0.1";
  code.port = 4443;
  code.root_fingerprint = crypto::fingerprint(root_.public_key());
  code.enrolment_secret = Bytes(16, 's');
  return code;
}

protocol::SignedStatement FakeServer::project() const {
  protocol::ProjectDocument document;
  document.project = project_id_;
  document.name = project_name;
  document.root_key = root_.public_key();
  document.work_certificate = work_certificate();
  document.issued_at = now;
  document.revocations = revocations;
  if (!former_work_certificates.empty()) document.former_work_certificates = former_work_certificates;
  return crypto::sign_statement(StatementType::project, protocol::encode(document), work_key_);
}

protocol::SignedStatement FakeServer::work_certificate() const {
  protocol::KeyCertificate certificate{project_id_, work_key_.public_key(), "work",
                                       now - std::chrono::hours{1}, now + std::chrono::hours{24 * 365}};
  return crypto::sign_statement(StatementType::work_key_certificate, protocol::encode(certificate), root_);
}

void FakeServer::revoke(const std::function<void(protocol::RevocationList&)>& change) {
  revocation_list_.project = project_id_;
  revocation_list_.issued_at = now;
  if (revocations) ++revocation_list_.number;
  change(revocation_list_);
  revocations = crypto::sign_statement(StatementType::revocations, protocol::encode(revocation_list_), root_);
}

void FakeServer::rotate_work_key() {
  former_work_certificates.push_back(work_certificate());
  work_key_ = crypto::PrivateKey::generate();
}

std::optional<std::int64_t> FakeServer::revocations_number() const {
  if (!revocations) return std::nullopt;
  return protocol::decode<protocol::RevocationList>(revocations->payload)->number;
}

void FakeServer::set_application(const std::string& kernel_script, const std::string& manifest_extra,
                                 const std::string& items_extra) {
  static int count = 0;
  const io::Path directory = std::filesystem::temp_directory_path() /
                             ("gleaner-bundle-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
  io::Files& files = io::real_files();
  REQUIRE(files.make_directories(directory / "bin").ok());
  REQUIRE(files.write(directory / "bin/kernel", kernel_script, io::Mode::executable).ok());
  REQUIRE(files.write(directory / "bin/manager", "#!/bin/sh\nexit 0\n", io::Mode::executable).ok());
  const std::string manifest = "manifest = 1\nname = \"test\"\nversion = \"1.0." + std::to_string(count) +
                               "\"\ntitle = \"Test\"\n[kernel]\nany = \"bin/kernel\"\n[manager]\nprogram = "
                               "\"bin/manager\"\n[items]\nmeaning = \"a word\"\n" +
                               items_extra + "\n[limits]\n" + manifest_extra + "\n";
  REQUIRE(files.write(directory / "manifest.toml", manifest, io::Mode::normal).ok());
  const auto packed = archives::pack_bundle(directory);
  INFO((packed.ok() ? "" : packed.error().message));
  REQUIRE(packed.ok());
  REQUIRE(files.remove_all(directory).ok());
  archive_digest = packed->digest;
  blobs[archive_digest] = packed->archive;
  application_ = bundle::sign_bundle(*packed, signer_, signer_certificate_, project_id_, now).application;
}

protocol::Grant FakeServer::make_grant(Range range) {
  protocol::Grant grant;
  grant.unit = UnitId{next_unit_++};
  grant.host = host;
  grant.problem = ProblemId{3};
  grant.problem_name = "words";
  if (names_units) grant.problem_name += "-" + std::to_string(range.begin);
  grant.range = range;
  grant.application = application_;
  grant.signer = signer_certificate_;
  grant.parameters = R"({"length":5})";
  grant.parameters_digest = crypto::sha256_hex(grant.parameters);
  grant.inputs = inputs;
  grant.cost = static_cast<double>(range.size());
  grant.commit_seconds = commit_seconds;
  grant.issued_at = now;
  grant.deadline = now + std::chrono::hours{24};
  grant.reason = "test";
  return grant;
}

protocol::SignedStatement FakeServer::sign(StatementType type, std::string payload) const {
  return crypto::sign_statement(type, std::move(payload), work_key_);
}

protocol::SignedStatement FakeServer::sign_grant(const protocol::Grant& grant) const {
  return crypto::sign_statement(StatementType::grant, protocol::encode(grant), work_key_);
}

protocol::SignedStatement FakeServer::sign_short_grant(protocol::Grant grant) const {
  const Bytes context = protocol::encode(
      protocol::GrantContext{grant.problem, grant.application, grant.signer, grant.parameters});
  grant.context = crypto::sha256_hex(context);
  protocol::SignedStatement statement = sign_grant(grant);
  statement.context = context;
  return statement;
}

protocol::Acknowledgement FakeServer::acknowledge(const protocol::CommitRequest& commit) {
  commits.push_back(commit);
  protocol::Acknowledgement answer;
  answer.unit = commit.unit;
  answer.host = host;
  answer.range = commit.range;
  answer.digest = commit.digest;
  answer.status = protocol::CommitStatus::refused;
  answer.at = now;
  if (refuse_all) {
    answer.reason = "refused for the test";
    return answer;
  }
  const std::string name = std::to_string(commit.unit.value) + " " + commit.digest;
  Bytes bytes;
  if (commit.data) {
    const auto raw = io::decompress(*commit.data, 1 << 30);
    if (!raw.ok()) return answer;
    bytes = *raw;
  } else {
    bytes = uploads[commit.digest];
  }
  const auto segment = protocol::split_segment(bytes, commit.range.size(), 1 << 29);
  if (!segment.ok() || crypto::sha256_hex(bytes) != commit.digest) {
    answer.reason = "damaged segment";
    return answer;
  }
  const bool repeated = !taken_.insert(name).second;
  const auto before_this = accepted_until_.find(commit.unit.value);
  if (!repeated && before_this != accepted_until_.end() && before_this->second != commit.range.begin) {
    answer.reason = "does not follow what was accepted";
    return answer;
  }
  answer.status = protocol::CommitStatus::accepted;
  answer.items_accepted = commit.range.size();
  if (repeated) return answer;
  accepted_until_[commit.unit.value] = commit.range.end;
  if (commit.last) finished_units.insert(commit.unit.value);
  for (std::int64_t i = 0; i < commit.range.size(); ++i) {
    items[commit.range.begin + i] = Bytes((*segment)[static_cast<std::size_t>(i)]);
    ++times[commit.range.begin + i];
  }
  return answer;
}

io::HttpReply FakeServer::work_reply(const std::string& body) {
  const auto request = protocol::decode<protocol::WorkRequest>(body);
  INFO((request.ok() ? "" : request.error().message));
  REQUIRE(request.ok());
  work.push_back(*request);
  protocol::WorkReply reply;
  for (const auto& commit : request->commits) {
    if (holds) {
      if (!reply.held) reply.held.emplace();
      reply.held->push_back({commit.unit, commit.range, commit.digest});
      to_tell.push_back(sign(StatementType::acknowledgement, protocol::encode(acknowledge(commit))));
      continue;
    }
    auto statement = crypto::sign_statement(StatementType::acknowledgement,
                                            protocol::encode(acknowledge(commit)), work_key_);
    std::optional<protocol::SignedStatement> given = std::move(statement);
    if (on_acknowledgement) given = on_acknowledgement(*given);
    if (given) reply.acknowledgements.push_back(*given);
  }
  if (tells) {
    const auto told = std::exchange(to_tell, {});
    reply.acknowledgements.insert(reply.acknowledgements.end(), told.begin(), told.end());
  }
  reply.units = std::exchange(orders, {});
  reply.instance = instance;
  for (const auto& slot : request->slots) {
    if (queue_.empty()) break;
    Granted granted = std::move(queue_.front());
    queue_.pop_front();
    auto& context = granted.of_project().context;
    if (context && request->contexts &&
        std::ranges::find(*request->contexts, crypto::sha256_hex(*context)) != request->contexts->end())
      context.reset();
    reply.grants.push_back(std::move(granted.statement));
    reply.grant_slots.push_back(slot.slot);
    if (!granted.lease) continue;
    if (!reply.leases) reply.leases.emplace();
    reply.leases->push_back(std::move(*granted.lease));
  }
  reply.retry_after_seconds = reply.grants.size() < request->slots.size() ? retry_after : 0;
  reply.slowest_performance = 100;
  reply.interval_seconds = 10;
  reply.reason = "nothing is queued";
  reply.revocations = revocations_number();
  return reply_with(protocol::encode(reply));
}

Result<io::HttpReply> FakeServer::handle(const io::HttpRequest& request) {
  const std::string path = request.url.substr(join_code().base_url().size());
  requests.push_back(request.method + " " + path);
  if (before)
    if (auto instead = before(request)) return *instead;
  if (path == "/v1/project") return reply_with(protocol::encode(project()));
  if (path == "/v1/relay")
    return relay ? reply_with(protocol::encode(*relay)) : problem_reply(404, "this is no relay");
  if (path == "/v1/enrol/nonce")
    return reply_with(protocol::encode(protocol::EnrolmentNonce{"nonce " + std::to_string(++nonces)}));
  if (path == "/v1/enrol") {
    enrolments.push_back(protocol::decode<protocol::EnrolRequest>(request.body).value());
    protocol::EnrolReply reply{host, "token"};
    return reply_with(protocol::encode(reply));
  }
  if (path.starts_with("/v1/blobs/")) {
    const auto found = blobs.find(path.substr(10));
    if (found == blobs.end()) return problem_reply(404, "no such blob");
    const std::string range = header(request, "Range");
    std::size_t from = 0;
    std::size_t to = 0;
    REQUIRE(std::sscanf(range.c_str(), "bytes=%zu-%zu", &from, &to) == 2);
    return reply_with(found->second.substr(from, to - from + 1), 206);
  }
  if (header(request, "Authorization") != "Bearer token") return problem_reply(401, "no token");
  if (path == "/v1/work") return work_reply(request.body);
  if (path == "/v1/heartbeat") {
    heartbeats.push_back(protocol::decode<protocol::HeartbeatRequest>(request.body).value());
    protocol::HeartbeatReply reply;
    reply.units = std::exchange(orders, {});
    reply.instance = instance;
    reply.interval_seconds = 10;
    reply.revocations = revocations_number();
    if (tells && !to_tell.empty()) {
      reply.acknowledgements.emplace(to_tell.begin(), to_tell.end());
      to_tell.clear();
    }
    return reply_with(protocol::encode(reply));
  }
  if (path == "/v1/failure") {
    failures.push_back(protocol::decode<protocol::FailureReport>(request.body).value());
    return reply_with(R"({"version":1})");
  }
  if (path.starts_with("/v1/uploads/")) {
    const std::string digest = path.substr(12);
    Bytes& have = uploads[digest];
    protocol::UploadState state{digest, 0, false};
    if (request.method == "PATCH") {
      if (header(request, "Upload-Offset") != std::to_string(have.size()))
        return problem_reply(409, "wrong offset");
      have += header(request, "Content-Encoding") == "deflate" ? io::decompress(request.body, 8 << 20).value()
                                                               : request.body;
      state.complete = std::to_string(have.size()) == header(request, "Upload-Length");
    }
    state.offset = static_cast<std::int64_t>(have.size());
    return reply_with(protocol::encode(state));
  }
  return problem_reply(404, "no such operation");
}

}  // namespace gleaner::engine::testing

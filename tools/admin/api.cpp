#include "tools/admin/api.h"

#include <algorithm>
#include <charconv>

#include "shared/base/limits.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"

namespace gleaner::admin {
namespace {

constexpr int attempts_max = 4;
constexpr double first_pause_seconds = 0.25;
// Longer than this a person is told rather than kept waiting.
constexpr double pause_seconds_max = 20;
// Bulk data over a slow line: 1 MiB at 10 kB/s.
constexpr Duration transfer_timeout = std::chrono::seconds{120};
// The manager has a minute, and its files are to be stored.
constexpr Duration preview_timeout = std::chrono::seconds{limits::manager_seconds_max + 60};

double retry_after_of(const io::HttpReply& reply) {
  const auto found = reply.headers.find("retry-after");
  if (found == reply.headers.end()) return 0;
  int seconds = 0;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), seconds);
  return std::clamp(seconds, 0, limits::retry_after_seconds_max);
}

std::string problem_path(ProblemId id) {
  return "/v1/admin/problems/" + std::to_string(id.value);
}
std::string code_path(const std::string& name) {
  return "/v1/admin/codes/" + name;
}
std::string host_path(HostId id) {
  return "/v1/admin/hosts/" + std::to_string(id.value);
}

}  // namespace

Api::Api(std::unique_ptr<io::HttpClient> http, Connection connection, const Outside& outside)
    : http_(std::move(http)),
      connection_(std::move(connection)),
      outside_(outside),
      random_(static_cast<std::uint64_t>(to_microseconds(outside.clock.now()))) {}

Result<io::HttpReply> Api::send(io::HttpRequest request, Repeat repeat) {
  request.url = connection_.url + request.url;
  request.headers.emplace_back("Authorization", "Bearer " + connection_.token);
  for (int attempt = 1;; ++attempt) {
    auto reply = http_->send(request);
    if (reply.ok() && reply->status >= 200 && reply->status < 300) return reply;
    const bool busy = reply.ok() && (reply->status == 429 || reply->status == 503);
    const Error error = reply.ok() ? error_of_reply(*reply, connection_) : reply.error();
    // A busy server has not done it; where the answer got lost, it may have.
    const bool again = busy || (error.kind == ErrorKind::unavailable && repeat == Repeat::yes);
    const double asked = reply.ok() ? retry_after_of(*reply) : 0;
    if (!again || attempt == attempts_max || asked > pause_seconds_max || outside_.interrupted())
      return error;
    const double growing = first_pause_seconds * static_cast<double>(1 << attempt) * random_.uniform();
    outside_.wait(from_seconds(std::max(asked, growing)));
  }
}

Result<protocol::ServerStatus> Api::status() {
  return get<protocol::ServerStatus>("/v1/admin/status");
}

Result<std::vector<protocol::ApplicationInfo>> Api::applications() {
  return get<std::vector<protocol::ApplicationInfo>>("/v1/admin/applications");
}

Result<protocol::ApplicationInfo> Api::application(const std::string& name) {
  return get<protocol::ApplicationInfo>("/v1/admin/applications/" + name);
}

Result<protocol::ApplicationInfo> Api::add_application(const protocol::AddApplication& application) {
  return post<protocol::ApplicationInfo>("/v1/admin/applications", protocol::encode(application),
                                         Repeat::yes);
}

Result<std::vector<protocol::ProblemInfo>> Api::problems() {
  return get<std::vector<protocol::ProblemInfo>>("/v1/admin/problems");
}

Result<protocol::ProblemInfo> Api::problem(ProblemId id, Shares shares) {
  return get<protocol::ProblemInfo>(problem_path(id) + (shares == Shares::all ? "?hosts=all" : ""));
}

Result<protocol::ProblemInfo> Api::problem_with_inputs(ProblemId id) {
  return get<protocol::ProblemInfo>(problem_path(id) + "?inputs=true");
}

Result<protocol::ProblemInfo> Api::add_problem(const protocol::AddProblem& problem) {
  // Two problems of the same content are allowed, so a lost answer is for the person to look into.
  auto added = post<protocol::ProblemInfo>("/v1/admin/problems", protocol::encode(problem), Repeat::no);
  if (!added.ok() && added.error().kind == ErrorKind::unavailable)
    return Error{ErrorKind::unavailable, added.error().message +
                                             " (before adding the problem again, look with " +
                                             "`gleaner-admin problem list` whether it is there)"};
  return added;
}

Result<protocol::ProblemEstimate> Api::estimate_problem(const protocol::AddProblem& problem) {
  return post<protocol::ProblemEstimate>("/v1/admin/estimates", protocol::encode(problem), Repeat::no);
}

Result<protocol::ProblemInfo> Api::change_problem(ProblemId id, const std::string& verb) {
  return post<protocol::ProblemInfo>(problem_path(id) + "/" + verb, empty_body, Repeat::yes);
}

Result<protocol::ProblemInfo> Api::append(ProblemId id, const protocol::AppendInputs& inputs) {
  return post<protocol::ProblemInfo>(problem_path(id) + "/append", protocol::encode(inputs), Repeat::no,
                                     preview_timeout);
}

Result<protocol::ProblemInfo> Api::retry_failed(ProblemId id) {
  return post<protocol::ProblemInfo>(problem_path(id) + "/retry-failed", empty_body, Repeat::no,
                                     preview_timeout);
}

Result<protocol::TablePage> Api::table(const std::string& digest) {
  return get<protocol::TablePage>("/v1/admin/tables/" + digest + "?count=1");
}

Result<protocol::Preview> Api::preview(ProblemId id) {
  return post<protocol::Preview>(problem_path(id) + "/preview", empty_body, Repeat::no, preview_timeout);
}

Result<protocol::Preview> Api::partial(ProblemId id) {
  return post<protocol::Preview>(problem_path(id) + "/partial", empty_body, Repeat::no, preview_timeout);
}

Result<protocol::FlowInfo> Api::tell_flow(const protocol::FlowInfo& flow) {
  return post<protocol::FlowInfo>("/v1/admin/flows", protocol::encode(flow), Repeat::yes);
}

Status Api::remove_problem(ProblemId id) {
  io::HttpRequest request;
  request.method = "DELETE";
  request.url = problem_path(id);
  TRY(send(std::move(request), Repeat::yes));
  return {};
}

Result<std::vector<protocol::StrategyInfo>> Api::strategies() {
  return get<std::vector<protocol::StrategyInfo>>("/v1/admin/strategies");
}

Result<protocol::ProblemInfo> Api::change_strategy(ProblemId id, const protocol::ChangeStrategy& change) {
  return post<protocol::ProblemInfo>(problem_path(id) + "/strategy", protocol::encode(change), Repeat::yes);
}

Result<protocol::ProblemInfo> Api::change_application(ProblemId id,
                                                      const protocol::ChangeApplication& change) {
  return post<protocol::ProblemInfo>(problem_path(id) + "/application", protocol::encode(change),
                                     Repeat::yes);
}

Result<std::vector<protocol::DecisionInfo>> Api::decisions(ProblemId id, int count) {
  return get<std::vector<protocol::DecisionInfo>>(problem_path(id) +
                                                  "/decisions?count=" + std::to_string(count));
}

Result<protocol::KernelOutput> Api::output(ProblemId id, HostId host) {
  return get<protocol::KernelOutput>(problem_path(id) + "/output" +
                                     (host == HostId{} ? "" : "?host=" + std::to_string(host.value)));
}

Result<std::vector<protocol::HostInfo>> Api::hosts() {
  return get<std::vector<protocol::HostInfo>>("/v1/admin/hosts");
}

Result<protocol::HostInfo> Api::host(HostId id) {
  return get<protocol::HostInfo>(host_path(id));
}

Result<protocol::HostInfo> Api::revoke_host(HostId id, const protocol::RevokeHost& revocation) {
  return post<protocol::HostInfo>(host_path(id) + "/revoke", protocol::encode(revocation), Repeat::yes);
}

Result<protocol::HostInfo> Api::hold_host(HostId id, const protocol::HoldHost& hold) {
  return post<protocol::HostInfo>(host_path(id) + "/hold", protocol::encode(hold), Repeat::yes);
}

Result<protocol::HostInfo> Api::release_host(HostId id) {
  return post<protocol::HostInfo>(host_path(id) + "/release", empty_body, Repeat::yes);
}

Result<protocol::HostInfo> Api::tag_host(HostId id, const protocol::TagHost& tags) {
  return post<protocol::HostInfo>(host_path(id) + "/tags", protocol::encode(tags), Repeat::yes);
}

Result<std::vector<protocol::UnitInfo>> Api::host_units(HostId id, int count) {
  return get<std::vector<protocol::UnitInfo>>(host_path(id) + "/units?count=" + std::to_string(count));
}

Result<std::vector<protocol::CodeInfo>> Api::codes() {
  return get<std::vector<protocol::CodeInfo>>("/v1/admin/codes");
}

Result<protocol::CodeInfo> Api::code(const std::string& name) {
  return get<protocol::CodeInfo>(code_path(name));
}

Result<protocol::MadeCode> Api::add_code(const protocol::AddCode& code) {
  // A lost answer had the only copy of the secret.
  return post<protocol::MadeCode>("/v1/admin/codes", protocol::encode(code), Repeat::no);
}

Result<protocol::MadeCode> Api::rotate_code(const std::string& name) {
  return post<protocol::MadeCode>(code_path(name) + "/rotate", empty_body, Repeat::yes);
}

Result<protocol::CodeInfo> Api::withdraw_code(const std::string& name,
                                              const protocol::WithdrawCode& withdrawal) {
  return post<protocol::CodeInfo>(code_path(name) + "/withdraw", protocol::encode(withdrawal), Repeat::yes);
}

Result<protocol::UploadState> Api::upload_state(const std::string& digest) {
  return get<protocol::UploadState>("/v1/uploads/" + digest);
}

Result<protocol::UploadState> Api::append_upload(const std::string& digest, std::int64_t offset,
                                                 std::int64_t total, std::string_view chunk) {
  io::HttpRequest request;
  request.method = "PATCH";
  request.url = "/v1/uploads/" + digest;
  request.headers = {{"Content-Type", "application/octet-stream"},
                     {"Upload-Offset", std::to_string(offset)},
                     {"Upload-Length", std::to_string(total)}};
  Bytes packed = io::compress(chunk);
  const bool pays = packed.size() < chunk.size() / 10 * 9;
  if (pays) request.headers.emplace_back("Content-Encoding", "deflate");
  request.body = pays ? std::move(packed) : Bytes(chunk);
  request.timeout = transfer_timeout;
  // Not repeated here: after a lost answer the offset has to be asked for first.
  TRY_ASSIGN(const io::HttpReply reply, send(std::move(request), Repeat::no));
  return protocol::decode<protocol::UploadState>(reply.body);
}

Result<Bytes> Api::blob_range(const std::string& digest, std::int64_t offset, std::int64_t bytes) {
  io::HttpRequest request;
  request.url = "/v1/blobs/" + digest;
  request.headers.emplace_back("Range",
                               "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + bytes - 1));
  request.timeout = transfer_timeout;
  request.reply_bytes_max = bytes;
  TRY_ASSIGN(io::HttpReply reply, send(std::move(request), Repeat::yes));
  const bool whole = reply.status == 200 && offset == 0;
  if ((reply.status != 206 && !whole) || std::cmp_not_equal(reply.body.size(), bytes)) {
    return Error{ErrorKind::unavailable,
                 "the server sent " + std::to_string(reply.body.size()) + " bytes of blob " + digest +
                     " instead of the " + std::to_string(bytes) +
                     " asked for: try again, and see the server's log if it stays so"};
  }
  return std::move(reply.body);
}

}  // namespace gleaner::admin

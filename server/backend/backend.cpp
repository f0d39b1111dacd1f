#include "server/backend/backend.h"

#include <algorithm>
#include <utility>

#include "server/backend/follow.h"
#include "server/http/responses.h"

namespace gleaner::backend {
namespace {

using link::Kind;
using Exchange = std::shared_ptr<link::Exchange>;

std::function<void(Status)> plain(const Exchange& exchange) {
  return [exchange](const Status& status) {
    if (!status.ok()) return exchange->fail(status.error());
    exchange->done({});
  };
}

service::PreparedCommit prepared(protocol::CommitRequest request, const link::Verdict& verdict) {
  service::PreparedCommit commit;
  commit.request = std::move(request);
  commit.problem = verdict.problem;
  commit.stage = verdict.stage;
  commit.enough = verdict.enough;
  commit.refusal = verdict.refusal;
  commit.blame = !verdict.refusal.empty();
  commit.bytes = verdict.bytes;
  return commit;
}

}  // namespace

void Backend::handle(Kind kind, std::string_view body, const Exchange& exchange) {
  const Status taken = [&]() -> Status {
    switch (kind) {
      case Kind::hello:
        return greet(body, exchange);
      case Kind::who:
        return who(body, exchange);
      case Kind::place:
        return place(body, exchange);
      case Kind::work:
        return work(body, exchange);
      case Kind::heartbeat:
        return heartbeat(body, exchange);
      case Kind::failure:
        return failure(body, exchange);
      case Kind::leave:
        return leave(body, exchange);
      case Kind::pass:
        return pass(body, exchange);
      case Kind::blob:
        return blob(body, exchange);
      default:
        return Error{ErrorKind::invalid, "no such operation: is the front end newer than the server?"};
    }
  }();
  if (!taken.ok()) exchange->fail(taken.error());
}

Status Backend::greet(std::string_view body, const Exchange& exchange) const {
  TRY_ASSIGN(const auto hello, link::unpack<link::Hello>(body));
  if (hello.version != link::version)
    return Error{ErrorKind::invalid, "front ends and servers of a project must be of one version"};
  if (hello.project != project_)
    return Error{ErrorKind::invalid,
                 "this is the server of another project: check the front end's link.servers"};
  exchange->done({});
  return {};
}

Result<HostId> Backend::host_of(const link::Caller& caller) {
  TRY(service_.bans().check_address(std::string(caller.peer)));
  TRY_ASSIGN(const auto visitor, service_.enrolment().visitor(caller.token, {}));
  return *visitor.host;
}

Status Backend::who(std::string_view body, const Exchange& exchange) {
  TRY_ASSIGN(const auto caller, link::unpack<link::Caller>(body));
  TRY(service_.bans().check_address(std::string(caller.peer)));
  TRY_ASSIGN(const auto visitor, service_.enrolment().visitor(caller.token, {}));
  exchange->done(link::pack(link::WhoAnswer{*visitor.host, visitor.caller == service::Load::Caller::proven}));
  return {};
}

Status Backend::place(std::string_view body, const Exchange& exchange) {
  TRY_ASSIGN(const auto call, link::unpack<link::PlaceCall>(body));
  TRY_ASSIGN(const HostId host, host_of(call.caller));
  service_.commits().place(host, call.unit, [exchange](const Result<service::CheckingPlace>& found) {
    if (!found.ok()) return exchange->fail(found.error());
    const auto& manager = found->manager;
    exchange->done(link::pack(link::PlaceAnswer{manager.problem, found->stage, found->item_bytes_max,
                                                manager.archive, manager.program, manager.parameters,
                                                manager.inputs, found->application}));
  });
  return {};
}

Status Backend::work(std::string_view body, const Exchange& exchange) {
  TRY_ASSIGN(auto call, link::unpack<link::WorkCall>(body));
  TRY_ASSIGN(const HostId host, host_of(call.caller));
  std::vector<service::PreparedCommit> commits;
  commits.reserve(call.verdicts.size());
  for (std::size_t i = 0; i < call.verdicts.size(); ++i)
    commits.push_back(prepared(call.request.commits[i], call.verdicts[i]));
  service_.work().work_checked(
      host, std::move(call.request), std::move(commits), [exchange](Result<service::Work::Answer> answer) {
        if (!answer.ok()) return exchange->fail(answer.error());
        link::WorkAnswer message{std::move(answer->reply), {}};
        for (const auto& unit : answer->units)
          message.units.push_back({unit.unit, unit.problem, unit.stage, unit.inputs});
        exchange->done(link::pack(message));
      });
  return {};
}

Status Backend::heartbeat(std::string_view body, const Exchange& exchange) {
  TRY_ASSIGN(auto call, link::unpack<link::HeartbeatCall>(body));
  TRY_ASSIGN(const HostId host, host_of(call.caller));
  service_.work().heartbeat(host, std::move(call.request),
                            [exchange](const Result<protocol::HeartbeatReply>& reply) {
                              if (!reply.ok()) return exchange->fail(reply.error());
                              exchange->done(link::pack(*reply));
                            });
  return {};
}

Status Backend::failure(std::string_view body, const Exchange& exchange) {
  TRY_ASSIGN(auto call, link::unpack<link::FailureCall>(body));
  TRY_ASSIGN(const HostId host, host_of(call.caller));
  service_.work().failure(host, std::move(call.report), plain(exchange));
  return {};
}

Status Backend::leave(std::string_view body, const Exchange& exchange) {
  TRY_ASSIGN(const auto caller, link::unpack<link::Caller>(body));
  TRY_ASSIGN(const HostId host, host_of(caller));
  service_.enrolment().leave(host, plain(exchange));
  return {};
}

Status Backend::pass(std::string_view body, const Exchange& exchange) {
  TRY_ASSIGN(auto request, link::unpack<http::Request>(body));
  const bool head_only = request.method == "HEAD";
  router_.handle(std::move(request), [this, exchange, head_only](const http::Response& response) {
    if (response.feed) return follow(service_.kernel(), exchange, response);
    if (response.file && !head_only)  // a front end asks for its head, and fetches the bytes by `blob`
      return exchange->fail({ErrorKind::invalid, "files do not pass the link as a whole"});
    exchange->done(link::pack(response));
  });
  return {};
}

Status Backend::blob(std::string_view body, const Exchange& exchange) {
  TRY_ASSIGN(const auto call, link::unpack<link::BlobCall>(body));
  // Not on the link's thread: reading may take a while.
  service_.kernel().on_blob_pool([this, exchange, digest = std::string(call.digest), offset = call.offset] {
    service_.downloads().open(digest, [this, exchange, offset](const Result<service::Download>& download) {
      if (!download.ok()) return exchange->fail(download.error());
      const auto piece = service_.kernel().files().read_range(
          download->path, offset, std::min(link::blob_piece_bytes, download->bytes - offset));
      if (!piece.ok()) return exchange->fail(piece.error());
      exchange->done(link::pack(link::BlobAnswer{download->bytes, *piece}));
    });
  });
  return {};
}

}  // namespace gleaner::backend

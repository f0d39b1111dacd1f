#include "server/front/router.h"

#include <algorithm>
#include <utility>

#include "server/http/placed.h"
#include "server/http/transfer.h"
#include "server/service/core/round.h"
#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"

namespace gleaner::front {
namespace {

using http::error_response;
using link::Kind;
using service::Load;
using Checked = service::SegmentCheck::Checked;

bool is_host_operation(const http::Request& request) {
  const auto& path = request.path;
  return request.method == "POST" &&
         (path == "/v1/work" || path == "/v1/heartbeat" || path == "/v1/failure" || path == "/v1/leave");
}

// As whom the asker is remembered here: by its token, or by a session's cookie.
Bytes digest_of_asker(const http::Request& request) {
  if (const std::string token = http::bearer_token(request); !token.empty()) return crypto::sha256(token);
  const std::string cookie = http::header(request, "cookie");
  return crypto::sha256(cookie.empty() ? "" : "cookie " + cookie);
}

link::Verdict verdict_of(const Checked& checked) {
  const auto& prepared = checked.prepared;
  return {prepared.problem, prepared.stage, prepared.enough, prepared.refusal,
          checked.bytes ? std::string_view(*checked.bytes) : std::string_view()};
}

}  // namespace

Router::Router(const Checker::Surroundings& around, std::shared_ptr<http::ConnectionFigures> connections)
    : around_(around),
      connections_(std::move(connections)),
      load_(around.clock, around.settings.configuration),
      visitors_(around.clock),
      checker_(around) {}

void Router::introduce(const http::Request& head, const http::Reply& reply) {
  const Bytes digest = digest_of_asker(head);
  if (head.path == "/v1/enrol" || visitors_.find(digest)) return reply({});
  const std::string token = http::bearer_token(head);
  know({token, head.peer, head.network}, digest, [reply](const Result<Visitors::Known>&) { reply({}); });
}

// By its head: who is not known keeps a large one.
std::int64_t Router::body_bytes_max(const http::Request& head) const {
  return http::body_limit(head, [&](bool announced) {
    const auto known = visitors_.find(digest_of_asker(head));
    return known && !(known->host && announced && load_.owes(*known->host));
  });
}

void Router::handle(http::Request request, http::Reply reply) {
  const auto asked = std::make_shared<Asked>();
  asked->token = http::bearer_token(request);
  asked->digest = digest_of_asker(request);
  asked->reply = [figures = requests_, kind = http::kind_of(request.path),
                  reply = std::move(reply)](http::Response response) {
    figures->answered(kind, response.status);
    reply(std::move(response));
  };
  asked->request = std::move(request);
  const auto ready = [this] {
    return stopping_ ? Status{Error{ErrorKind::unavailable, "this front end is being stopped"}}
                     : around_.leader.ready();
  };
  if (http::watch(asked->request, asked->reply, ready, [&] { metrics(asked); })) return;
  if (is_host_operation(asked->request)) return host_request(asked);
  const auto known = visitors_.find(asked->digest);
  serve(asked, known.value_or(Visitors::Known{}),
        [this](const AskedPtr& placed, const Load::Account& account) {
          if (placed->request.path.starts_with("/v1/blobs/")) return download(placed, account);
          pass(placed);
        });
}

template <typename Use>
void Router::serve(const AskedPtr& asked, const Visitors::Known& who, Use use) {
  const auto& request = asked->request;
  auto placed = http::place(load_, request, {who.caller, request.network, who.host}, asked->reply);
  if (!placed) return;
  const auto holding = std::make_shared<Asked>(*asked);
  holding->reply = std::move(placed->reply);
  const auto place = std::move(placed->place);
  if (place->begin()) return use(holding, place->account());
  place->wait([holding, place, use] { use(holding, place->account()); });
}

void Router::host_request(const AskedPtr& asked) {
  const auto serve_host = [this, asked](const Visitors::Known& who) {
    serve(asked, who, [this](const AskedPtr& placed, const Load::Account&) { host_operation(placed); });
  };
  know(asked->caller(), asked->digest, [this, asked, serve_host](const Result<Visitors::Known>& known) {
    known.ok() ? serve_host(*known) : refuse(asked, known.error());
  });
}

void Router::know(const link::Caller& caller, const Bytes& digest,
                  std::function<void(Result<Visitors::Known>)> then) {
  if (const auto known = visitors_.find(digest); known && known->host) return then(*known);
  around_.leader.ask(Kind::who, link::pack(caller),
                     [this, digest, then = std::move(then)](Kind kind, std::string_view body) {
                       if (kind == Kind::error) return then(link::unpack_error(body));
                       const auto answer = link::unpack<link::WhoAnswer>(body);
                       if (!answer.ok()) return then(answer.error());
                       const Visitors::Known known{
                           answer->proven ? Load::Caller::proven : Load::Caller::stranger, answer->host};
                       visitors_.remember(digest, known);
                       then(known);
                     });
}

void Router::host_operation(const AskedPtr& asked) {
  const auto& path = asked->request.path;
  if (path == "/v1/work") return work(asked);
  if (path == "/v1/heartbeat") return heartbeat(asked);
  if (path == "/v1/failure") return failure(asked);
  tell(asked, Kind::leave, link::pack(asked->caller()));
}

void Router::work(const AskedPtr& asked) {
  auto request = protocol::decode<protocol::WorkRequest>(asked->request.body);
  if (!request.ok()) return asked->reply(error_response(request.error()));
  if (request->commits.empty()) return send_work(asked, std::move(*request), {});
  // Who brings more is a relay, or nobody whose results are to be looked at.
  if (request->commits.size() > static_cast<std::size_t>(limits::segments_per_request_max) ||
      !std::all_of(request->commits.begin(), request->commits.end(), Checker::can)) {
    ++unchecked_;
    return pass(asked);
  }
  auto commits = request->commits;
  for (auto& commit : request->commits) commit.data.reset();
  const auto round = std::make_shared<service::Round<Checked>>(
      commits.size(),
      [this, asked, request = std::move(*request)](Result<std::vector<Checked>> checked) mutable {
        if (checked.ok()) return send_work(asked, std::move(request), *checked);
        ++unchecked_;
        pass(asked);
      });
  for (std::size_t i = 0; i < commits.size(); ++i)
    checker_.check(asked, std::move(commits[i]),
                   [round, i](Result<Checked> checked) { round->settle(i, std::move(checked)); });
}

void Router::send_work(const AskedPtr& asked, protocol::WorkRequest request,
                       const std::vector<Checked>& checked) {
  link::WorkCall call{asked->caller(), std::move(request), {}};
  for (const auto& each : checked) call.verdicts.push_back(verdict_of(each));
  checked_ += static_cast<std::int64_t>(checked.size());
  around_.leader.ask(Kind::work, link::pack(call), [this, asked](Kind kind, std::string_view body) {
    if (kind == Kind::error) return refuse(asked, link::unpack_error(body));
    const auto answer = link::unpack<link::WorkAnswer>(body);
    if (!answer.ok()) return refuse(asked, answer.error());
    for (const auto& unit : answer->units) checker_.learn(unit);
    asked->reply(http::json_response(protocol::encode(answer->reply)));
  });
}

void Router::heartbeat(const AskedPtr& asked) {
  auto request = protocol::decode<protocol::HeartbeatRequest>(asked->request.body);
  if (!request.ok()) return asked->reply(error_response(request.error()));
  const Bytes call = link::pack(link::HeartbeatCall{asked->caller(), std::move(*request)});
  around_.leader.ask(Kind::heartbeat, call, [this, asked](Kind kind, std::string_view body) {
    if (kind == Kind::error) return refuse(asked, link::unpack_error(body));
    const auto answer = link::unpack<protocol::HeartbeatReply>(body);
    if (!answer.ok()) return refuse(asked, answer.error());
    asked->reply(http::json_response(protocol::encode(*answer)));
  });
}

void Router::failure(const AskedPtr& asked) {
  auto report = protocol::decode<protocol::FailureReport>(asked->request.body);
  if (!report.ok()) return asked->reply(error_response(report.error()));
  tell(asked, Kind::failure, link::pack(link::FailureCall{asked->caller(), std::move(*report)}));
}

void Router::tell(const AskedPtr& asked, Kind kind, const Bytes& call) {
  around_.leader.ask(kind, call, [this, asked](Kind answered, std::string_view body) {
    if (answered == Kind::error) return refuse(asked, link::unpack_error(body));
    asked->reply(http::json_response("{\"version\":1}"));
  });
}

void Router::refuse(const AskedPtr& asked, const Error& error) {
  if (error.kind == ErrorKind::unauthorized || error.kind == ErrorKind::forbidden ||
      error.kind == ErrorKind::banned)
    visitors_.forget(asked->digest);
  const bool check_again = error.kind == ErrorKind::conflict;  // another problem or stage than was thought
  if (check_again) return pass(asked);
  asked->reply(error_response(error));
}

// The leader says whether somebody may have it; the bytes are here, or come.
void Router::download(const AskedPtr& asked, const Load::Account& account) {
  if (asked->request.method != "GET" && asked->request.method != "HEAD")
    return asked->reply(error_response(http::no_such_operation(asked->request)));
  http::Request head = asked->request;
  head.method = "HEAD";
  head.headers.erase("range");
  around_.leader.ask(Kind::pass, link::pack(head), [this, asked, account](Kind kind, std::string_view body) {
    if (kind == Kind::error) return refuse(asked, link::unpack_error(body));
    auto response = link::unpack<http::Response>(body);
    if (!response.ok()) return refuse(asked, response.error());
    if (response->status != 200) return asked->reply(std::move(*response));
    const bool taken = around_.pool.submit([this, asked, account] {
      const std::string digest = asked->request.path.substr(std::string_view("/v1/blobs/").size());
      const auto path = checker_.depot().fetch(digest);
      if (!path.ok()) return asked->reply(error_response(path.error()));
      const auto size = around_.files.size(*path);
      if (!size.ok()) return asked->reply(error_response(size.error()));
      http::Response file = http::file_response(*path, *size, http::header(asked->request, "range"));
      if (file.file && asked->request.method == "GET")
        file.file->moved = http::Transfer::begin(account, file.file->bytes);
      asked->reply(std::move(file));
    });
    if (!taken) asked->reply(error_response({ErrorKind::unavailable, "this front end ends: try again"}));
  });
}

}  // namespace gleaner::front

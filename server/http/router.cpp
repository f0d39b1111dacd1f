#include "server/http/router.h"

#include "server/http/placed.h"
#include "server/http/status_page.h"
#include "server/http/transfer.h"
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"

namespace gleaner::http {
namespace {

constexpr std::string_view addresses_path = "/v1/addresses/";
constexpr std::string_view nonce_path = "/v1/enrol/nonce";
constexpr std::string_view relay_path = "/v1/relay/";
constexpr std::string_view stages_path = "/v1/relay/stages/";

service::Load::Visitor anybody(const Request& request) {
  return {service::Load::Caller::stranger, request.network};
}

}  // namespace

bool Router::may_send_large(const Request& head, bool announced) {
  if (const auto host = service_.enrolment().authenticate_host(bearer_token(head)); host.ok())
    return !announced || !service_.load().owes(*host);
  return authenticate(head).ok();
}

std::int64_t Router::body_bytes_max(const Request& head) {
  return body_limit(head, [&](bool announced) { return may_send_large(head, announced); });
}

void Router::handle(Request request, Reply reply) {
  route(request,
        [figures = requests_, kind = kind_of(request.path), reply = std::move(reply)](Response response) {
          figures->answered(kind, response.status);
          reply(std::move(response));
        });
}

void Router::route(const Request& request, const Reply& reply) {
  const auto& path = request.path;
  if (const Status may = service_.bans().check_address(request.peer); !may.ok())
    return reply(error_response(may.error()));
  const auto ready = [this] { return service_.vitals().readiness(); };
  if (watch(request, reply, ready, [&] { metrics(request, reply); })) return;
  if (path.starts_with("/v1/admin/")) return admin_request(request, reply);
  if (path.starts_with("/v1/console/")) return console_operation(request, reply);
  if (path == "/console" || path.starts_with("/console/")) return console_file(request, reply);
  if (path == "/v1/enrol" && request.method == "POST") {
    return with_body<protocol::EnrolRequest>(request, reply, [&](protocol::EnrolRequest message) {
      service_.enrolment().enrol(std::move(message), request.network, answer<protocol::EnrolReply>(reply));
    });
  }
  if (moves_blob(path)) return blob_operation(request, reply);
  if (!path.starts_with("/v1/") || path == "/v1/project" || path == "/v1/relay" || path == nonce_path)
    return public_operation(request, reply);
  const auto host = service_.enrolment().visitor(bearer_token(request), request.network);
  if (!host.ok()) return refuse(request, host.error(), reply);
  serve(request, *host, reply,
        [this, id = *host->host](const Request& its, const Reply& placed, const service::Load::Place& place) {
          host_operation(its, id, placed, [place] { place->leave(); });
        });
}

template <typename Use>
void Router::serve(const Request& request, const service::Load::Visitor& who, const Reply& reply, Use use) {
  const auto placed = place(service_.load(), request, who, reply);
  if (!placed) return;
  if (placed->place->begin()) return use(request, placed->reply, placed->place);
  placed->place->wait([request, placed = *placed, use] { use(request, placed.reply, placed.place); });
}

void Router::refuse(const Request& request, const Error& why, const Reply& reply) {
  const auto place = service_.load().enter(anybody(request), service::Load::Size::small);
  reply(place.ok() ? error_response(why) : busy_response(place.error()));
}

void Router::public_operation(const Request& request, const Reply& reply) {
  serve(request, anybody(request), reply,
        [this](const Request& its, const Reply& placed, const service::Load::Place&) {
          if (its.path == "/v1/project" && its.method == "GET")
            return placed(json_response(protocol::encode(service_.enrolment().project())));
          if (its.path == "/v1/relay" && its.method == "GET")
            return answer<protocol::SignedStatement>(placed)(service_.relays().own_certificate());
          if (its.path == nonce_path && its.method == "GET")
            return service_.enrolment().nonce(its.network, answer<protocol::EnrolmentNonce>(placed));
          status_page(its, placed);
        });
}

void Router::blob_operation(const Request& request, const Reply& reply) {
  auto who = service_.enrolment().visitor(bearer_token(request), request.network);
  if (!who.ok()) {
    if (who.error().kind != ErrorKind::unauthorized) return refuse(request, who.error(), reply);
    const auto admin = admit(request, split_path(request.path));
    if (!admin.ok()) {
      if (admin.error().kind != ErrorKind::unauthorized) return reply(error_response(admin.error()));
      return refuse(
          request,
          {ErrorKind::unauthorized, who.error().message + "; as an administrator: " + admin.error().message},
          reply);
    }
    who = service::Load::Visitor{service::Load::Caller::administrator, request.network};
  }
  serve(request, *who, reply,
        [this, host = who->host](const Request& its, const Reply& placed, const service::Load::Place& place) {
          if (its.path.starts_with("/v1/blobs/")) return download(its, placed, place->account());
          upload(its, placed, host);
        });
}

void Router::addresses(const Request& request, HostId host, const Reply& reply) {
  const std::string digest = request.path.substr(addresses_path.size());
  if (request.method == "GET")
    return service_.addresses().of_blob(host, digest, answer<protocol::SignedStatement>(reply));
  if (request.method != "POST") return reply(error_response(no_such_operation(request)));
  with_body<protocol::PutRequest>(request, reply, [&](const protocol::PutRequest& message) {
    service_.addresses().of_upload(host, digest, message.bytes, answer<protocol::SignedStatement>(reply));
  });
}

// /v1/relay/stages/PROBLEM/STAGE[/costs?from=ITEM]
void Router::stage_operation(const Request& request, HostId relay, const Reply& reply) {
  const auto pieces = split_path(request.path);
  const bool costs = pieces.size() == 6 && pieces[5] == "costs";
  if (request.method != "GET" || (pieces.size() != 5 && !costs))
    return reply(error_response(no_such_operation(request)));
  const auto asked = request.query.find("from");
  const auto problem = parse_number(pieces[3]), stage = parse_number(pieces[4]),
             from = asked == request.query.end() ? 0 : parse_number(asked->second);
  if (!problem || !stage || !from || *stage >= limits::stages_max)
    return reply(
        error_response({ErrorKind::invalid, "expected stages/PROBLEM/STAGE and from=ITEM, numbers"}));
  const auto which = static_cast<int>(*stage);
  if (!costs)
    return service_.stages().describe(relay, ProblemId{*problem}, which,
                                      answer<protocol::StageDescription>(reply));
  service_.stages().costs(relay, ProblemId{*problem}, which, *from, [reply](Result<Bytes> bytes) {
    if (!bytes.ok()) return reply(error_response(bytes.error()));
    Response response;
    response.headers["Content-Type"] = "application/octet-stream";
    response.body = std::move(*bytes);
    reply(std::move(response));
  });
}

// Of a relay, for itself and for those under it.
void Router::relay_operation(const Request& request, HostId relay, const Reply& reply) {
  if (request.path.starts_with(stages_path)) return stage_operation(request, relay, reply);
  service::Relays& relays = service_.relays();
  const std::string what = request.method + " " + request.path.substr(relay_path.size());
  if (what == "GET certificate") {
    const auto asked = request.query.find("host");
    const auto whose = asked == request.query.end() ? relay.value : parse_number(asked->second);
    if (!whose) return reply(error_response({ErrorKind::invalid, "host: expected a whole number"}));
    return relays.certificate(relay, HostId{*whose}, answer<protocol::SignedStatement>(reply));
  }
  if (what == "POST hosts") {
    return with_body<protocol::EnrolRequest>(request, reply, [&](protocol::EnrolRequest message) {
      relays.join(relay, std::move(message), request.network, answer<protocol::RelayHostReply>(reply));
    });
  }
  if (what == "POST hosts/leave") {
    return with_body<protocol::RelayHostLeft>(request, reply, [&](const protocol::RelayHostLeft& message) {
      relays.leave(relay, message.host, answer_done(reply));
    });
  }
  reply(error_response(no_such_operation(request)));
}

void Router::host_operation(const Request& request, HostId host, const Reply& reply,
                            const std::function<void()>& rests) {
  if (request.path.starts_with(addresses_path)) return addresses(request, host, reply);
  if (request.path.starts_with(relay_path)) return relay_operation(request, host, reply);
  if (request.method != "POST") return reply(error_response(no_such_operation(request)));
  const auto& path = request.path;
  if (path == "/v1/work") {
    return with_body<protocol::WorkRequest>(request, reply, [&](protocol::WorkRequest message) {
      service_.work().work(host, std::move(message), answer<protocol::WorkReply>(reply), rests);
    });
  }
  if (path == "/v1/heartbeat") {
    return with_body<protocol::HeartbeatRequest>(request, reply, [&](protocol::HeartbeatRequest message) {
      service_.work().heartbeat(host, std::move(message), answer<protocol::HeartbeatReply>(reply));
    });
  }
  if (path == "/v1/failure") {
    return with_body<protocol::FailureReport>(request, reply, [&](protocol::FailureReport message) {
      service_.work().failure(host, std::move(message), answer_done(reply));
    });
  }
  if (path == "/v1/leave") return service_.enrolment().leave(host, answer_done(reply));
  if (path == "/v1/commit")  // An older client keeps the result, and its log says why.
    return reply(error_response(
        {ErrorKind::not_found, "results come with POST /v1/work now: update the client on this computer"}));
  reply(error_response(no_such_operation(request)));
}

void Router::upload(const Request& request, const Reply& reply, std::optional<HostId> host) {
  const std::int64_t bytes_max = host ? limits::segment_bytes_max : limits::blob_bytes_max;
  const std::string digest = request.path.substr(std::string("/v1/uploads/").size());
  if (request.method == "GET")
    return service_.uploads().look(digest, host, answer<protocol::UploadState>(reply));
  if (request.method != "PATCH") return reply(error_response(no_such_operation(request)));
  const auto offset = parse_number(header(request, "upload-offset"));
  const auto length = parse_number(header(request, "upload-length"));
  if (!offset || !length)
    return reply(error_response(
        {ErrorKind::invalid, "Upload-Offset and Upload-Length: expected whole numbers of raw bytes"}));
  const std::string encoding = header(request, "content-encoding");
  if (!encoding.empty() && encoding != "deflate" && encoding != "identity")
    return reply(error_response({ErrorKind::invalid, "Content-Encoding: expected deflate or none"}));
  service_.uploads().upload({digest, *offset, *length, request.body, encoding == "deflate", bytes_max, host},
                            answer<protocol::UploadState>(reply));
}

void Router::download(const Request& request, const Reply& reply, const service::Load::Account& account) {
  const std::string digest = request.path.substr(std::string("/v1/blobs/").size());
  if (request.method != "GET" && request.method != "HEAD")
    return reply(error_response(no_such_operation(request)));
  service_.downloads().open(digest,
                            [reply, account, head_only = request.method == "HEAD",
                             asked = header(request, "range")](const Result<service::Download>& download) {
                              if (!download.ok()) return reply(error_response(download.error()));
                              Response response = file_response(download->path, download->bytes, asked);
                              if (response.file && !head_only)
                                response.file->moved = Transfer::begin(account, response.file->bytes);
                              reply(std::move(response));
                            });
}

void Router::status_page(const Request& request, const Reply& reply) {
  if (request.method != "GET" && request.method != "HEAD")
    return reply(error_response(no_such_operation(request)));
  const bool page = request.path == "/";
  if (!page && request.path != "/status.json")
    return reply(
        error_response({ErrorKind::not_found, "nothing at " + request.path + ": the status page is at /"}));
  if (public_page_ == PublicPage::off) {
    if (!page)
      return reply(
          error_response({ErrorKind::not_found,
                          "this project shows no figures in public (server.public_page in server.toml)"}));
    return reply(text_response(
        "This Gleaner project has no public page. To join, ask its administrator for a join code.\n"));
  }
  service_.overview().look([reply, page](Result<service::Overview::Snapshot> snapshot) {
    if (!snapshot.ok()) return reply(error_response(snapshot.error()));
    if (!page) return reply(json_response(protocol::encode((*snapshot)->problems)));
    Response response;
    response.headers["Content-Type"] = "text/html; charset=utf-8";
    response.headers["Cache-Control"] = "no-store";
    response.headers["Content-Security-Policy"] =
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors "
        "'none'";
    response.headers["X-Content-Type-Options"] = "nosniff";
    response.body = render_status_page(**snapshot);
    reply(std::move(response));
  });
}

}  // namespace gleaner::http

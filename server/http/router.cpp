#include "server/http/router.h"

#include <algorithm>

#include "server/http/permissions.h"
#include "server/http/responses.h"
#include "server/http/status_page.h"
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"

namespace gleaner::http {
namespace {

constexpr int decisions_default = 50;

Error no_such_operation(const Request& request) {
  return {ErrorKind::not_found, "no operation " + request.method + " " + request.path + ": see openapi.yaml"};
}

// Decodes the body and calls `use` with it, or answers why not.
template <typename Message, typename Use>
void with_body(const Request& request, const Reply& reply, Use use) {
  auto message = protocol::decode<Message>(request.body);
  if (!message.ok()) return reply(error_response(message.error()));
  use(std::move(*message));
}

}  // namespace

std::int64_t Router::body_bytes_max(const Request& head) {
  return head.path.starts_with("/v1/uploads/") ? limits::upload_chunk_bytes_max + (64 << 10)
                                               : limits::json_message_bytes_max;
}

void Router::handle(Request request, Reply reply) {
  const auto& path = request.path;
  if (path.starts_with("/v1/admin/")) return admin_request(request, reply);
  if (path == "/v1/project" && request.method == "GET")
    return reply(json_response(protocol::encode(service_.enrolment().project())));
  if (path == "/v1/enrol" && request.method == "POST") {
    return with_body<protocol::EnrolRequest>(request, reply, [&](protocol::EnrolRequest message) {
      service_.enrolment().enrol(std::move(message), request.network, answer<protocol::EnrolReply>(reply));
    });
  }
  if (path.starts_with("/v1/uploads/") || path.starts_with("/v1/blobs/")) {
    const std::string token = bearer_token(request);
    std::optional<HostId> uploader;  // absent: an administrator
    if (const auto host = service_.enrolment().authenticate_host(token); host.ok()) {
      uploader = *host;
    } else {
      const auto admin = service_.admins().authenticate(token);
      if (!admin.ok())
        return reply(
            error_response({ErrorKind::unauthorized,
                            host.error().message + "; as an administrator: " + admin.error().message}));
      const auto needed = least_role(request.method, split_path(path));
      if (const Status may = check_role(admin->name, admin->role, needed); !may.ok())
        return reply(error_response(may.error()));
    }
    if (path.starts_with("/v1/blobs/")) return blob(request, reply);
    return upload(request, reply, uploader);
  }
  if (path.starts_with("/v1/")) return host_operation(request, reply);
  status_page(request, reply);
}

void Router::host_operation(const Request& request, const Reply& reply) {
  const auto host = service_.enrolment().authenticate_host(bearer_token(request));
  if (!host.ok()) return reply(error_response(host.error()));
  if (request.method != "POST") return reply(error_response(no_such_operation(request)));
  const auto& path = request.path;
  if (path == "/v1/work") {
    return with_body<protocol::WorkRequest>(request, reply, [&](protocol::WorkRequest message) {
      service_.work().work(*host, std::move(message), answer<protocol::WorkReply>(reply));
    });
  }
  if (path == "/v1/heartbeat") {
    return with_body<protocol::HeartbeatRequest>(request, reply, [&](protocol::HeartbeatRequest message) {
      service_.work().heartbeat(*host, std::move(message), answer<protocol::HeartbeatReply>(reply));
    });
  }
  if (path == "/v1/commit") {
    return with_body<protocol::CommitRequest>(request, reply, [&](protocol::CommitRequest message) {
      service_.commits().commit(*host, std::move(message), answer<protocol::SignedStatement>(reply));
    });
  }
  if (path == "/v1/failure") {
    return with_body<protocol::FailureReport>(request, reply, [&](protocol::FailureReport message) {
      service_.work().failure(*host, std::move(message), answer_done(reply));
    });
  }
  if (path == "/v1/leave") return service_.enrolment().leave(*host, answer_done(reply));
  reply(error_response(no_such_operation(request)));
}

void Router::admin_request(const Request& request, const Reply& reply) {
  const auto admin = service_.admins().authenticate(bearer_token(request));
  if (!admin.ok()) return reply(error_response(admin.error()));
  const auto needed = least_role(request.method, split_path(request.path));
  if (const Status may = check_role(admin->name, admin->role, needed); !may.ok())
    return reply(error_response(may.error()));
  admin_operation(request, reply, admin->role);
}

void Router::admin_operation(const Request& request, const Reply& reply, protocol::Role role) {
  const auto pieces = split_path(request.path);  // v1, admin, ...
  const bool get = request.method == "GET";
  const bool post = request.method == "POST";
  const std::string kind = pieces.size() > 2 ? pieces[2] : "";
  const auto id = pieces.size() > 3 ? parse_number(pieces[3]) : std::nullopt;
  const std::string action = pieces.size() > 4 ? pieces[4] : "";
  if (pieces.size() == 3) {
    if (kind == "status" && get)
      return service_.overview().status(answer<protocol::ServerStatus>(reply), role);
    if (kind == "applications" && get)
      return service_.applications().list(answer<std::vector<protocol::ApplicationInfo>>(reply));
    if (kind == "applications" && post) {
      return with_body<protocol::AddApplication>(request, reply, [&](protocol::AddApplication message) {
        service_.applications().add(std::move(message), answer<protocol::ApplicationInfo>(reply));
      });
    }
    if (kind == "problems" && get)
      return service_.problems().list(answer<std::vector<protocol::ProblemInfo>>(reply));
    if (kind == "problems" && post) {
      return with_body<protocol::AddProblem>(request, reply, [&](protocol::AddProblem message) {
        service_.problems().add(std::move(message), answer<protocol::ProblemInfo>(reply));
      });
    }
    if (kind == "strategies" && get)
      return answer<std::vector<protocol::StrategyInfo>>(reply)(service::strategies());
    if (kind == "hosts" && get)
      return service_.enrolment().hosts(answer<std::vector<protocol::HostInfo>>(reply));
  }
  if (kind == "problems" && id && pieces.size() == 4) {
    if (get) return service_.problems().show(ProblemId{*id}, answer<protocol::ProblemInfo>(reply));
    if (request.method == "DELETE") return service_.problems().remove(ProblemId{*id}, answer_done(reply));
  }
  if (kind == "problems" && id && pieces.size() == 5) {
    using Action = service::Problems::Action;
    const auto change = [&](Action what) {
      service_.problems().change(ProblemId{*id}, what, answer<protocol::ProblemInfo>(reply));
    };
    if (action == "pause" && post) return change(Action::pause);
    if (action == "resume" && post) return change(Action::resume);
    if (action == "cancel" && post) return change(Action::cancel);
    if (action == "retry" && post) return change(Action::retry);
    if (action == "preview" && post)
      return service_.previews().preview(ProblemId{*id}, answer<protocol::Preview>(reply));
    if (action == "partial" && post)
      return service_.previews().partial(ProblemId{*id}, answer<protocol::Preview>(reply));
    if (action == "strategy" && post) {
      return with_body<protocol::ChangeStrategy>(request, reply, [&](protocol::ChangeStrategy message) {
        service_.problems().change_strategy(ProblemId{*id}, std::move(message),
                                            answer<protocol::ProblemInfo>(reply));
      });
    }
    if (action == "application" && post) {
      return with_body<protocol::ChangeApplication>(request, reply, [&](protocol::ChangeApplication message) {
        service_.problems().change_application(ProblemId{*id}, std::move(message),
                                               answer<protocol::ProblemInfo>(reply));
      });
    }
    if (action == "decisions" && get) {
      const auto asked = request.query.find("count");
      const auto count = asked == request.query.end() ? std::optional<std::int64_t>(decisions_default)
                                                      : parse_number(asked->second);
      if (!count) return reply(error_response({ErrorKind::invalid, "count: expected a whole number"}));
      return service_.problems().decisions(ProblemId{*id},
                                           static_cast<int>(std::min<std::int64_t>(*count, 10'000)),
                                           answer<std::vector<protocol::DecisionInfo>>(reply));
    }
  }
  if (kind == "hosts" && id && pieces.size() == 4 && get)
    return service_.enrolment().host(HostId{*id}, answer<protocol::HostInfo>(reply));
  if (kind == "hosts" && id && pieces.size() == 5 && action == "revoke" && post) {
    return with_body<protocol::RevokeHost>(request, reply, [&](protocol::RevokeHost message) {
      service_.enrolment().revoke_host(HostId{*id}, message, answer<protocol::HostInfo>(reply));
    });
  }
  if (kind == "codes") return code_operation(request, reply, pieces);
  if (kind == "tokens") return token_operation(request, reply, pieces);
  reply(error_response(no_such_operation(request)));
}

void Router::code_operation(const Request& request, const Reply& reply,
                            const std::vector<std::string>& pieces) {
  const bool get = request.method == "GET";
  const bool post = request.method == "POST";
  const std::string name = pieces.size() > 3 ? pieces[3] : "";
  const std::string action = pieces.size() > 4 ? pieces[4] : "";
  if (pieces.size() == 3 && get) return service_.codes().list(answer<std::vector<protocol::CodeInfo>>(reply));
  if (pieces.size() == 3 && post) {
    return with_body<protocol::AddCode>(request, reply, [&](protocol::AddCode message) {
      service_.codes().add(std::move(message), answer<protocol::MadeCode>(reply));
    });
  }
  if (pieces.size() == 4 && get) return service_.codes().show(name, answer<protocol::CodeInfo>(reply));
  if (pieces.size() == 5 && action == "rotate" && post)
    return service_.codes().rotate(name, answer<protocol::MadeCode>(reply));
  if (pieces.size() == 5 && action == "withdraw" && post) {
    return with_body<protocol::WithdrawCode>(request, reply, [&](protocol::WithdrawCode message) {
      service_.codes().withdraw(name, message, answer<protocol::CodeInfo>(reply));
    });
  }
  reply(error_response(no_such_operation(request)));
}

void Router::token_operation(const Request& request, const Reply& reply,
                             const std::vector<std::string>& pieces) {
  const bool post = request.method == "POST";
  if (pieces.size() == 3 && request.method == "GET")
    return service_.admins().list(answer<std::vector<protocol::TokenInfo>>(reply));
  if (pieces.size() == 3 && post) {
    return with_body<protocol::AddToken>(request, reply, [&](protocol::AddToken message) {
      service_.admins().add(std::move(message), answer<protocol::MadeToken>(reply));
    });
  }
  if (pieces.size() == 5 && pieces[4] == "withdraw" && post)
    return service_.admins().withdraw(pieces[3], answer<protocol::TokenInfo>(reply));
  reply(error_response(no_such_operation(request)));
}

void Router::upload(const Request& request, const Reply& reply, std::optional<HostId> host) {
  const std::int64_t bytes_max = host ? limits::segment_bytes_max : limits::blob_bytes_max;
  const std::string digest = request.path.substr(std::string("/v1/uploads/").size());
  if (request.method == "GET") {
    const auto state = service_.uploads().state(digest);
    return reply(state.ok() ? json_response(protocol::encode(*state)) : error_response(state.error()));
  }
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

void Router::blob(const Request& request, const Reply& reply) {
  const std::string digest = request.path.substr(std::string("/v1/blobs/").size());
  if (request.method != "GET" && request.method != "HEAD")
    return reply(error_response(no_such_operation(request)));
  if (!storage::BlobStore::is_digest(digest))
    return reply(
        error_response({ErrorKind::invalid, "expected a SHA-256 digest as 64 lower-case hex digits"}));
  const auto size = service_.uploads().blobs().size(digest);
  if (!size.ok()) return reply(error_response(size.error()));
  const auto range = parse_byte_range(header(request, "range"), *size);
  Response response;
  if (!range.ok()) {
    response = error_response(range.error());
    response.status = 416;
    response.headers["Content-Range"] = "bytes */" + std::to_string(*size);
    return reply(std::move(response));
  }
  response.headers["Content-Type"] = "application/octet-stream";
  response.headers["Accept-Ranges"] = "bytes";
  response.headers["Cache-Control"] = "private, max-age=31536000, immutable";
  if (range->bytes != *size) {
    response.status = 206;
    response.headers["Content-Range"] = "bytes " + std::to_string(range->offset) + "-" +
                                        std::to_string(range->offset + range->bytes - 1) + "/" +
                                        std::to_string(*size);
  }
  response.file = Response::FilePart{service_.uploads().blobs().path(digest), range->offset, range->bytes};
  reply(std::move(response));
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
    Response response;
    response.headers["Content-Type"] = "text/plain; charset=utf-8";
    response.headers["X-Content-Type-Options"] = "nosniff";
    response.body =
        "This is the server of a Gleaner project, which shows nothing in public.\n"
        "Who wants to join asks its administrator for a join code.\n";
    return reply(std::move(response));
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

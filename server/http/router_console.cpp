// Router: the console's page, and who logs in to it.
#include "server/console/files.h"
#include "server/http/permissions.h"
#include "server/http/responses.h"
#include "server/http/router.h"
#include "shared/protocol/codec.h"

namespace gleaner::http {
namespace {

// "__Host-": browsers take it over HTTPS only, for this host alone, whatever other servers of the domain do.
constexpr std::string_view cookie_name = "__Host-gleaner-console";
constexpr const char* page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: "
    "blob:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

std::string cookie_header(const std::string& secret, std::int64_t seconds) {
  return std::string(cookie_name) + "=" + secret +
         "; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(seconds);
}

Response forbidden(const char* why) {
  return error_response({ErrorKind::forbidden, why});
}

constexpr const char* other_site = "this comes from a page of another site: open the console itself";

}  // namespace

void Router::console_file(const Request& request, const Reply& reply) const {
  if (request.method != "GET" && request.method != "HEAD")
    return reply(error_response(no_such_operation(request)));
  std::string path = request.path.substr(std::string("/console").size());
  if (path.starts_with('/')) path.erase(0, 1);
  if (path.empty()) path = "index.html";
  const console::File* const file = console::find_file(path);
  if (file == nullptr)
    return reply(error_response({ErrorKind::not_found, "nothing at " + request.path + ": see /console"}));
  Response response;
  const bool page = path == "index.html";
  response.headers["Content-Type"] = console::media_type(path);
  response.headers["X-Content-Type-Options"] = "nosniff";
  response.headers["Referrer-Policy"] = "no-referrer";
  response.headers["Content-Security-Policy"] = page_policy;
  response.headers["Cross-Origin-Opener-Policy"] = "same-origin";
  // What the page names has a digest in its name: another version has another name.
  response.headers["Cache-Control"] = page ? "no-cache" : "public, max-age=31536000, immutable";
  const std::string tag = '"' + file->digest + '"';
  response.headers["ETag"] = tag;
  response.headers["Vary"] = "Accept-Encoding";
  if (header(request, "if-none-match").find(tag) != std::string::npos) {
    response.status = 304;
    return reply(std::move(response));
  }
  if (header(request, "accept-encoding").find("gzip") == std::string::npos) {
    return reply(error_response(
        {ErrorKind::invalid, "the console is stored compressed: ask with gzip (curl --compressed)"}));
  }
  response.headers["Content-Encoding"] = "gzip";
  response.body = Bytes(file->gzipped);
  reply(std::move(response));
}

Result<service::LoggedIn> Router::logged_in(const Request& request) {
  if (!from_same_origin(request)) return Error{ErrorKind::forbidden, other_site};
  const std::string secret = cookie(header(request, "cookie"), cookie_name);
  if (secret.empty())
    return Error{ErrorKind::unauthorized, "you are not logged in: `gleaner-admin console` does that"};
  TRY_ASSIGN(service::LoggedIn who, service_.logins().find(secret));
  const bool looks = request.method == "GET" || request.method == "HEAD";
  if (!looks && !equal_constant_time(header(request, "x-gleaner-guard"), who.guard))
    return Error{ErrorKind::forbidden, "X-Gleaner-Guard is missing or wrong: load the console again"};
  return who;
}

Response Router::session_response(const service::LoggedIn& who, const std::string& instead_of) const {
  return json_response(
      protocol::encode(protocol::SessionInfo{who.admin.name, who.admin.role, who.guard,
                                             service_.kernel().settings().configuration.name, instead_of}));
}

void Router::open_session(const Request& request, const Reply& reply) {
  if (!from_same_origin(request)) return reply(forbidden(other_site));
  with_body<protocol::OpenSession>(request, reply, [&](const protocol::OpenSession& message) {
    const auto admin = service_.logins().identify(message);
    if (!admin.ok()) {
      const bool wrong = admin.error().kind == ErrorKind::unauthorized;
      const std::string whose = message.token.empty() ? "" : service_.admins().owner_of(message.token);
      if (wrong)
        service_.audit().refused(whose.empty() ? "unknown" : whose, admin.error().kind, "console login",
                                 request.network);
      const Status more = wrong ? service_.admins().note_wrong_token(request.network) : Status{};
      return reply(error_response(more.ok() ? admin.error() : more.error()));
    }
    const std::string before = cookie(header(request, "cookie"), cookie_name);
    const auto standing = service_.logins().find(before);
    if (standing.ok() && standing->admin.name != admin->name && !message.instead)
      return reply(session_response({*admin, ""}, standing->admin.name));
    // Its cookie is replaced: nobody would end the session that stood.
    service_.logins().open(message, *admin, [this, reply, before](const Result<service::NewSession>& opened) {
      if (!opened.ok()) return reply(error_response(opened.error()));
      service_.logins().close(before);
      Response response = session_response(opened->who);
      response.headers["Set-Cookie"] = cookie_header(opened->secret, limits::console_session_seconds);
      reply(std::move(response));
    });
  });
}

void Router::console_operation(const Request& request, const Reply& reply) {
  const bool session = request.path == "/v1/console/session";
  if (session && request.method == "POST") return open_session(request, reply);
  if (request.path == "/v1/console/links" && request.method == "POST") {
    if (bearer_token(request).empty())
      return reply(error_response(
          {ErrorKind::unauthorized, "a link is made with an admin token: `gleaner-admin console`"}));
    const auto admin = admit(request, split_path(request.path));
    if (!admin.ok()) return reply(error_response(admin.error()));
    return service_.logins().make_link(*admin, answer<protocol::ConsoleLink>(reply));
  }
  if (!session || (request.method != "GET" && request.method != "DELETE"))
    return reply(error_response(no_such_operation(request)));
  const auto who = logged_in(request);
  if (!who.ok()) {
    // Cookies know no ports: another server's of this host come along, and are no guess.
    const bool guessed = who.error().kind == ErrorKind::unauthorized &&
                         !cookie(header(request, "cookie"), cookie_name).empty();
    const Status more = guessed ? service_.admins().note_wrong_token(request.network) : Status{};
    return reply(error_response(more.ok() ? who.error() : more.error()));
  }
  if (request.method == "GET") return reply(session_response(*who));
  service_.logins().close(cookie(header(request, "cookie"), cookie_name));
  Response response = json_response("{\"version\":1}");
  response.headers["Set-Cookie"] = cookie_header("", 0);
  reply(std::move(response));
}

}  // namespace gleaner::http

#include "client/page/rules.h"

#include <algorithm>

#include "shared/base/encoding.h"
#include "shared/json/text.h"

namespace gleaner::page {
namespace {

using Json = json::Value;

constexpr double share_max = 1000;

Reply refuse(int status, const std::string& message) {
  return {status, "application/json", json::write({{"ok", false}, {"message", message}})};
}

Reply failure(const Error& error) {
  switch (error.kind) {
    case ErrorKind::not_found:
    case ErrorKind::unavailable:
      return refuse(503, error.message);
    case ErrorKind::forbidden:
    case ErrorKind::banned:
      return refuse(403, error.message);
    case ErrorKind::invalid:
      return refuse(400, error.message);
    case ErrorKind::unauthorized:
    case ErrorKind::conflict:
    case ErrorKind::too_large:
    case ErrorKind::untrusted:
    case ErrorKind::io:
    case ErrorKind::internal:
      break;
  }
  return refuse(500, error.message);
}

bool is_ours(const std::string& host, int port) {
  const std::string place = ":" + std::to_string(port);
  return host == "127.0.0.1" + place || host == "localhost" + place;
}

bool from_elsewhere(const Request& request, int port) {
  const bool foreign_origin = !request.origin.empty() && (!request.origin.starts_with("http://") ||
                                                          !is_ours(request.origin.substr(7), port));
  const bool foreign_site =
      !request.fetch_site.empty() && request.fetch_site != "same-origin" && request.fetch_site != "none";
  return foreign_origin || foreign_site;
}

Reply ask(Backend& backend, const Json& request) {
  auto reply = backend.ask(json::write(request));
  if (!reply.ok()) return failure(reply.error());
  return {200, "application/json", std::move(reply).value()};
}

// The commands that the page has buttons for; the client checks what is in them.
Reply command(const std::string& body, Backend& backend) {
  const Json given = json::parse_or_null(body);
  if (!given["command"].is_string()) return refuse(400, "expected {\"command\": ...}");
  const std::string name = given["command"].string();
  if (name != "pause" && name != "resume" && name != "finish")
    return refuse(400, "there is no such command here");
  Json request = {{"version", 1}, {"command", name}};
  for (const char* const option : {"seconds", "at_saved_point"})
    if (given.contains(option)) request[option] = given[option];
  return ask(backend, request);
}

// A project's share, or whether anything is computed for it.
Reply change_project(const std::string& body, Backend& backend) {
  const Json given = json::parse_or_null(body);
  if (!given["key"].is_string())
    return refuse(400, "expected {\"key\": ..., \"share\" or \"suspended\": ...}");
  const bool share = given["share"].is_number();
  if (!share && !given["suspended"].is_boolean())
    return refuse(400, "expected a share, or whether it is suspended");
  if (share && !(given["share"].number() >= 0 && given["share"].number() <= share_max))
    return refuse(400, "a share is 0 to 1000");
  const std::string verb = share ? "share" : given["suspended"].boolean() ? "suspend" : "resume";
  const auto changed =
      backend.change_project(given["key"].string(), verb, share ? given["share"].number() : 1);
  if (!changed.ok()) return failure(changed.error());
  return {200, "application/json", json::write({{"ok", true}, {"message", *changed}})};
}

// A line of JSON, then the pixels; or, asked for it alone, the line: null, where nothing forms.
Reply picture(Backend& backend, bool whole) {
  auto found = backend.picture();
  if (!found.ok()) {
    if (found.error().kind != ErrorKind::not_found) return failure(found.error());
    return whole ? refuse(404, found.error().message) : Reply{200, "application/json", "null"};
  }
  if (!whole) return {200, "application/json", std::move(found->about)};
  return {200, "application/octet-stream", std::move(found->about) + "\n" + found->pixels};
}

Reply open(const Request& request, const Gate& gate) {
  if (!gate.opens || !request.own_user)
    return refuse(403, "open the address that `gleaner page` printed: it carries the key to this page");
  return {303, "text/plain", "see the page\n", "/#" + gate.token};
}

Reply set_preference(const std::string& body, Backend& backend) {
  const Json given = json::parse_or_null(body);
  const auto text = [&](const char* name) { return given[name].is_string() ? given[name].string() : ""; };
  if (text("key").empty()) return refuse(400, "expected {\"key\": ..., \"value\": ...}");
  // Without a value it is the preset's again.
  const auto wanted = given.contains("value") ? std::optional(text("value")) : std::nullopt;
  const std::string value = wanted.value_or("");
  if (std::any_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    return refuse(400, "a value is one line without control characters");
  if (const Status set = backend.set_preference(text("key"), wanted); !set.ok()) return failure(set.error());
  return {200, "application/json", json::write({{"ok", true}, {"message", "it holds from now on"}})};
}

}  // namespace

Reply answer(const Request& request, const Gate& gate, Backend& backend) {
  if (!is_ours(request.host, gate.port)) return refuse(421, "this server is for this computer's own browser");
  if (from_elsewhere(request, gate.port)) return refuse(403, "another page may not ask here");
  const bool get = request.method == "GET";
  const bool post = request.method == "POST";
  if (!get && !post) return refuse(405, "only GET and POST");
  if (get && request.target == "/") return {200, "text/html; charset=utf-8", std::string(page_html())};
  if (get && request.target == open_target) return open(request, gate);
  if (get && request.target == "/page.js")
    return {200, "text/javascript; charset=utf-8", std::string(page_script())};
  if (get && request.target == "/page.css")
    return {200, "text/css; charset=utf-8", std::string(page_style())};
  if (!request.target.starts_with("/api/")) return refuse(404, "nothing is here");
  constexpr std::string_view scheme = "Bearer ";
  if (!std::string_view(request.authorization).starts_with(scheme) ||
      !equal_constant_time(std::string_view(request.authorization).substr(scheme.size()), gate.token))
    return refuse(401, "open the address that `gleaner page` printed: it carries the key to this page");
  if (get && request.target == "/api/status") return ask(backend, {{"version", 1}, {"command", "status"}});
  if (get && request.target == "/api/log") return ask(backend, {{"version", 1}, {"command", "log"}});
  if (get && request.target == "/api/preferences") {
    auto all = backend.preferences();
    if (!all.ok()) return failure(all.error());
    return {200, "application/json", std::move(all).value()};
  }
  if (get && request.target == "/api/picture") return picture(backend, true);
  if (get && request.target == "/api/picture/about") return picture(backend, false);
  if (post && request.target == "/api/projects") return change_project(request.body, backend);
  if (post && request.target == "/api/command") return command(request.body, backend);
  if (post && request.target == "/api/preferences") return set_preference(request.body, backend);
  return refuse(404, "nothing is here");
}

}  // namespace gleaner::page

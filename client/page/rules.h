// What the page's server answers, and to whom. The page and its script are for anybody who can reach the
// loopback device; all that says or changes something wants the token, in a header that no foreign page can
// set. A name that was made to point at us (DNS rebinding) is refused by its Host; a foreign page's request
// by its Origin and Sec-Fetch-Site. The browser that `gleaner page` starts is given no token, since other
// users can read its arguments: it asks for open_target, and gets the token if its connection is of our own
// user. Pure but for the backend; one thread.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::page {

// What the page may do: the same as `gleaner`.
class Backend {
 public:
  virtual ~Backend() = default;
  // A request of the control protocol, and its answer (JSON, both). unavailable, not_found: no client.
  [[nodiscard]] virtual Result<std::string> ask(const std::string& request) = 0;
  [[nodiscard]] virtual Result<std::string> preferences() = 0;  // JSON: a list as `gleaner prefs show --json`
  [[nodiscard]] virtual Status set_preference(const std::string& key,
                                              const std::optional<std::string>& value) = 0;
  // `verb`: share, suspend, resume. What holds now, as a sentence.
  [[nodiscard]] virtual Result<std::string> change_project(const std::string& key, const std::string& verb,
                                                           double share) = 0;
  struct Picture {
    std::string about;  // JSON: number, change, width, height, problem, application
    Bytes pixels;       // red, green, blue, row by row; as many as `about` says
  };
  // What this computer computes, as it forms. not_found: there is none.
  [[nodiscard]] virtual Result<Picture> picture() = 0;
};

struct Request {
  std::string method;
  std::string target;
  std::string host;
  std::string origin;      // empty: not said
  std::string fetch_site;  // Sec-Fetch-Site
  std::string authorization;
  std::string body;
  bool own_user = false;  // the connection's other end is a process of the user that runs this server
};

struct Reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string location = {};  // of a redirect
};

struct Gate {
  int port = 0;
  std::string token;
  bool opens = false;  // open_target was asked for by nobody yet
};

// Leads to the page with the token, once, and only the user that runs this server.
inline constexpr const char* open_target = "/open";

[[nodiscard]] Reply answer(const Request& request, const Gate& gate, Backend& backend);

inline constexpr std::size_t body_bytes_max = 16 << 10;
// On every reply: nothing but our own script, style and server; in no frame; never kept.
inline constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// The files of the page, built in.
[[nodiscard]] std::string_view page_html();
[[nodiscard]] std::string_view page_script();
[[nodiscard]] std::string_view page_style();

}  // namespace gleaner::page

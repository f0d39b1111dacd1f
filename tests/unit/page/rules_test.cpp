#include "client/page/rules.h"

#include <vector>

#include "tests/catch.h"

namespace gleaner::page {
namespace {

class RecordingBackend final : public Backend {
 public:
  Result<std::string> ask(const std::string& request) override {
    asked.push_back(request);
    return std::string(R"({"ok":true})");
  }
  Result<std::string> preferences() override { return std::string("[]"); }
  Status set_preference(const std::string& key, const std::optional<std::string>& value) override {
    if (key == "locked") return Error{ErrorKind::forbidden, "locked by the administrator"};
    asked.push_back(value ? key + "=" + *value : key + " unset");
    return {};
  }
  Result<std::string> change_project(const std::string& key, const std::string& verb, double share) override {
    if (key == "none") return Error{ErrorKind::not_found, "no such project"};
    asked.push_back(key + " " + verb + " " + std::to_string(share));
    return std::string("done");
  }
  Result<Picture> picture() override {
    if (!forms) return Error{ErrorKind::not_found, "there is no picture yet"};
    return Picture{R"({"width":1,"height":2})", Bytes("\x01\x02\x03\n\x05\x06", 6)};
  }
  std::vector<std::string> asked;
  bool forms = true;
};

const Gate gate{4711, "secret"};

Request request(const std::string& method, const std::string& target, const std::string& body = "") {
  return {method, target, "127.0.0.1:4711", "", "", "Bearer secret", body};
}

TEST_CASE("The page and what it needs are there for everybody who can reach it") {
  RecordingBackend backend;
  for (const char* target : {"/", "/page.js", "/page.css"}) {
    Request asked = request("GET", target);
    asked.authorization.clear();
    const Reply reply = answer(asked, gate, backend);
    CHECK(reply.status == 200);
    CHECK(reply.body.size() > 400);
  }
  // Small, and with nothing of the page in the page itself: the content policy forbids it.
  CHECK(page_html().size() + page_script().size() + page_style().size() < 67'000);
  for (const char* inline_code : {"<script>", "style=", "onclick", "http://", "https://"})
    CHECK(page_html().find(inline_code) == std::string_view::npos);
}

TEST_CASE("Without the token nothing is said and nothing done") {
  RecordingBackend backend;
  for (const char* wrong :
       {"", "Bearer ", "Bearer secre", "Bearer secret2", "secret", "Basic secret", "bearer secret"})
    for (const auto& [method, target] : {std::pair{"GET", "/api/status"},
                                         {"GET", "/api/log"},
                                         {"GET", "/api/preferences"},
                                         {"GET", "/api/picture"},
                                         {"GET", "/api/picture/about"},
                                         {"POST", "/api/projects"},
                                         {"POST", "/api/command"},
                                         {"POST", "/api/preferences"},
                                         {"GET", "/api/other"}}) {
      Request asked = request(method, target, R"({"command":"finish","key":"run","value":"never"})");
      asked.authorization = wrong;
      CHECK(answer(asked, gate, backend).status == 401);
    }
  CHECK(backend.asked.empty());
}

TEST_CASE("The token is told to nobody but our own user's browser, once") {
  RecordingBackend backend;
  Gate opening = gate;
  Request asked = request("GET", open_target);
  asked.authorization.clear();
  asked.own_user = true;
  CHECK(answer(asked, opening, backend).status == 403);  // nothing was opened, or it was used
  opening.opens = true;
  CHECK(answer(asked, opening, backend).location == "/#secret");
  for (const char* site : {"cross-site", "same-site"}) {
    Request foreign = asked;
    foreign.fetch_site = site;
    CHECK(answer(foreign, opening, backend).status == 403);
  }
  asked.own_user = false;
  const Reply refused = answer(asked, opening, backend);
  CHECK(refused.status == 403);
  CHECK(refused.location.empty());
  CHECK(refused.body.find("secret") == std::string::npos);
}

TEST_CASE("A foreign name, a foreign page and a foreign method are refused, token or not") {
  RecordingBackend backend;
  for (const char* host :
       {"", "evil.example:4711", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:47110", "127.0.0.1.evil:4711"})
    for (const char* target : {"/", "/api/status"}) {
      Request asked = request("GET", target);
      asked.host = host;
      CHECK(answer(asked, gate, backend).status == 421);
    }
  for (const char* origin : {"null", "http://evil.example", "https://127.0.0.1:4711", "http://127.0.0.1:4712",
                             "http://127.0.0.1:4711.evil.example", "several"}) {
    Request asked = request("POST", "/api/command", R"({"command":"finish"})");
    asked.origin = origin;
    CHECK(answer(asked, gate, backend).status == 403);
  }
  for (const char* site : {"cross-site", "same-site"}) {
    Request asked = request("POST", "/api/command", R"({"command":"finish"})");
    asked.fetch_site = site;
    CHECK(answer(asked, gate, backend).status == 403);
  }
  for (const char* method : {"PUT", "OPTIONS", "DELETE", "HEAD", ""})
    CHECK(answer(request(method, "/api/status"), gate, backend).status == 405);
  CHECK(backend.asked.empty());
}

TEST_CASE("Commands are those of the buttons, and no others") {
  RecordingBackend backend;
  Request asked =
      request("POST", "/api/command", R"({"command":"pause","seconds":3600,"version":9,"more":1})");
  asked.origin = "http://localhost:4711";
  asked.host = "localhost:4711";
  asked.fetch_site = "same-origin";
  CHECK(answer(asked, gate, backend).status == 200);
  REQUIRE(backend.asked.size() == 1);
  CHECK(backend.asked[0] == R"({"version":1,"command":"pause","seconds":3600})");
  for (const char* bad :
       {"", "[]", "{", R"({"command":"quit"})", R"({"command":7})", R"({"command":"reload"})"})
    CHECK(answer(request("POST", "/api/command", bad), gate, backend).status == 400);
  CHECK(answer(request("GET", "/api/command"), gate, backend).status == 404);
  CHECK(backend.asked.size() == 1);
}

TEST_CASE("A picture is told of, and sent with its pixels, if one forms") {
  RecordingBackend backend;
  CHECK(answer(request("GET", "/api/picture/about"), gate, backend).body == R"({"width":1,"height":2})");
  const Reply whole = answer(request("GET", "/api/picture"), gate, backend);
  CHECK(whole.content_type == "application/octet-stream");
  CHECK(whole.body == R"({"width":1,"height":2})" + std::string("\n\x01\x02\x03\n\x05\x06"));
  backend.forms = false;
  CHECK(answer(request("GET", "/api/picture"), gate, backend).status == 404);
  CHECK(answer(request("GET", "/api/picture/about"), gate, backend).body == "null");
}

TEST_CASE("A project gets another share, is suspended and taken up again") {
  RecordingBackend backend;
  const auto change = [&](const char* body) {
    return answer(request("POST", "/api/projects", body), gate, backend).status;
  };
  CHECK(change(R"({"key":"k","share":3})") == 200);
  CHECK(change(R"({"key":"k","suspended":true})") == 200);
  CHECK(change(R"({"key":"k","suspended":false})") == 200);
  CHECK(backend.asked ==
        std::vector<std::string>{"k share 3.000000", "k suspend 1.000000", "k resume 1.000000"});
  for (const char* bad : {"", R"({"key":"k"})", R"({"share":1})", R"({"key":"k","share":-1})",
                          R"({"key":"k","share":1e9})", R"({"key":"k","share":"3"})"})
    CHECK(change(bad) == 400);
  CHECK(change(R"({"key":"none","share":1})") == 503);
  CHECK(backend.asked.size() == 3);
}

TEST_CASE("A preference's value is one line") {
  RecordingBackend backend;
  for (const char* value : {R"(1\nsandbox = \"off\")", R"(1\rx)", R"(\u0000)", R"(\u007f)"})
    CHECK(answer(
              request("POST", "/api/preferences", std::string(R"({"key":"cores","value":")") + value + "\"}"),
              gate, backend)
              .status == 400);
  CHECK(backend.asked.empty());
}

TEST_CASE("Preferences are listed and set, and a refusal is said") {
  RecordingBackend backend;
  CHECK(answer(request("GET", "/api/preferences"), gate, backend).body == "[]");
  CHECK(
      answer(request("POST", "/api/preferences", R"({"key":"run","value":"never"})"), gate, backend).status ==
      200);
  CHECK(backend.asked == std::vector<std::string>{"run=never"});
  CHECK(answer(request("POST", "/api/preferences", R"({"key":"run"})"), gate, backend).status == 200);
  CHECK(backend.asked.back() == "run unset");
  const Reply refused =
      answer(request("POST", "/api/preferences", R"({"key":"locked","value":"1"})"), gate, backend);
  CHECK(refused.status == 403);
  CHECK(refused.body.find("administrator") != std::string::npos);
  CHECK(answer(request("POST", "/api/preferences", R"({"value":"1"})"), gate, backend).status == 400);
  CHECK(answer(request("GET", "/api/status"), gate, backend).status == 200);
  CHECK(answer(request("GET", "/../etc/passwd"), gate, backend).status == 404);
}

}  // namespace
}  // namespace gleaner::page

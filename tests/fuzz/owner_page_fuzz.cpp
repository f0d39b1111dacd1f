// Requests to the owner's page on the loopback device, one field a line and the body behind them: without the
// token, or of another host or page, nothing is asked of the client and nothing is set.
#include <array>

#include "client/page/rules.h"
#include "shared/json/text.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::page;

namespace {

class CountingBackend final : public Backend {
 public:
  Result<std::string> ask(const std::string& request) override {
    const auto asked = json::parse(request);
    CHECK_TRUE(asked.ok() && (*asked)["command"].is_string());
    const std::string& command = (*asked)["command"].string();
    CHECK_TRUE(command == "status" || command == "log" || command == "pause" || command == "resume" ||
               command == "finish");
    CHECK_TRUE(request.find('\n') == std::string::npos);
    ++calls;
    return std::string("{}");
  }
  Result<std::string> preferences() override {
    ++calls;
    return std::string("[]");
  }
  Status set_preference(const std::string& key, const std::optional<std::string>& /*value*/) override {
    CHECK_TRUE(!key.empty());
    ++calls;
    return {};
  }
  Result<std::string> change_project(const std::string& key, const std::string& verb, double share) override {
    CHECK_TRUE(!key.empty() && (verb == "share" || verb == "suspend" || verb == "resume"));
    CHECK_TRUE(verb != "share" || (share >= 0 && share <= 1e9));
    ++calls;
    return std::string("done");
  }
  Result<Picture> picture() override {
    ++calls;
    return Error{ErrorKind::not_found, "there is none"};
  }
  int calls = 0;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  std::array<std::string, 6> fields;
  for (std::string& field : fields) {
    const auto end = std::min(text.find('\n'), text.size());
    field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto& [method, target, host, origin, site, authorization] = fields;
  CountingBackend backend;
  const Gate gate{4711, "secret"};
  const Reply reply =
      answer({method, target, host, origin, site, authorization, std::string(text)}, gate, backend);
  CHECK_TRUE(reply.status >= 200 && reply.status < 600 && !reply.body.empty());
  CHECK_TRUE(reply.location.empty());
  if (backend.calls > 0) {
    CHECK_TRUE(authorization == "Bearer secret" && (host == "127.0.0.1:4711" || host == "localhost:4711"));
    CHECK_TRUE(origin.empty() || origin == "http://" + host || origin == "http://127.0.0.1:4711" ||
               origin == "http://localhost:4711");
    CHECK_TRUE(backend.calls == 1);
  }
  return 0;
}

// The world of gleaner-admin in tests: strings for streams, a scripted server, a fake clock that waiting
// advances, and a directory of its own.
#pragma once

#include <deque>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "shared/base/clock.h"
#include "tools/admin/outside.h"

namespace gleaner::admin {

// Answers "METHOD /path" with scripted replies, in order; the last one of a path is repeated. Anything not
// scripted is a 404 without explanation.
class ScriptedServer {
 public:
  void on(const std::string& call, int status, const std::string& body,
          std::map<std::string, std::string> headers = {});
  void fail(const std::string& call, Error error);

  struct Call {
    std::string call;  // "GET /v1/admin/status"
    io::HttpRequest request;
    [[nodiscard]] std::string header(const std::string& name) const;
  };
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  // Takes over every call where it gives an answer.
  std::function<std::optional<Result<io::HttpReply>>(const Call&)> handler;

  Result<io::HttpReply> answer(const io::HttpRequest& request);

 private:
  std::map<std::string, std::deque<Result<io::HttpReply>>> script_;
  std::vector<Call> calls_;
};

class TestWorld {
 public:
  TestWorld();
  ~TestWorld();
  TestWorld(const TestWorld&) = delete;
  TestWorld& operator=(const TestWorld&) = delete;

  [[nodiscard]] Outside outside();
  // Runs the program against this world; text of both streams is kept (and replaced) in out and error.
  int run(const std::vector<std::string>& arguments);
  // Writes DIR/admin/admin.json and its token and makes it the project.
  void add_profile();
  io::Path write(const std::string& name, const std::string& content);
  [[nodiscard]] std::string read(const io::Path& path) const;

  io::Path directory;
  ScriptedServer server;
  FakeClock clock;
  std::ostringstream out_stream, error_stream;
  std::string out, error;
  Display out_display, error_display;
  std::map<std::string, std::string> variables;
  std::optional<std::string> answer;  // to questions; nothing: no terminal
  std::vector<std::string> questions;
  std::vector<std::string> opened;  // in a browser
  std::vector<Duration> waits;
  Bytes connected_to;  // root fingerprint of the last connection
  int interrupt_after_waits = -1;
  bool out_fails = false;    // whatever is written there
  bool reader_gone = false;  // of the output
};

inline constexpr const char* test_token = "test-token-1234567890";
inline constexpr const char* test_url = "https://grid.test:8443";

}  // namespace gleaner::admin

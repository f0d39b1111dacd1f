#include "tests/unit/admin/test_world.h"

#include <filesystem>
#include <fstream>

#include "shared/crypto/keys.h"
#include "tools/admin/program.h"

namespace gleaner::admin {
namespace {

class ScriptedClient final : public io::HttpClient {
 public:
  explicit ScriptedClient(ScriptedServer& server) : server_(server) {}
  Result<io::HttpReply> send(const io::HttpRequest& request) override { return server_.answer(request); }

 private:
  ScriptedServer& server_;
};

}  // namespace

std::string ScriptedServer::Call::header(const std::string& name) const {
  for (const auto& [key, value] : request.headers)
    if (key == name) return value;
  return "";
}

void ScriptedServer::on(const std::string& call, int status, const std::string& body,
                        std::map<std::string, std::string> headers) {
  io::HttpReply reply;
  reply.status = status;
  reply.body = body;
  reply.headers = std::move(headers);
  script_[call].push_back(reply);
}

void ScriptedServer::fail(const std::string& call, Error error) {
  script_[call].push_back(std::move(error));
}

Result<io::HttpReply> ScriptedServer::answer(const io::HttpRequest& request) {
  const std::string path = request.url.substr(std::string(test_url).size());
  calls_.push_back({request.method + " " + path, request});
  if (handler)
    if (auto reply = handler(calls_.back())) return *reply;
  const auto found = script_.find(calls_.back().call);
  if (found == script_.end()) {
    io::HttpReply reply;
    reply.status = 404;
    return reply;
  }
  const Result<io::HttpReply> reply = found->second.front();
  if (found->second.size() > 1) found->second.pop_front();
  return reply;
}

TestWorld::TestWorld()
    : directory(std::filesystem::temp_directory_path() /
                ("gleaner-admin-" + to_hex(crypto::random_secret(8)))) {
  std::filesystem::create_directories(directory);
}

TestWorld::~TestWorld() {
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
}

Outside TestWorld::outside() {
  return {out_stream,
          error_stream,
          out_display,
          error_display,
          io::real_files(),
          io::real_processes(),
          clock,
          GLEANER_INSTALLATION,
          [this](const Trusted& trusted) {
            connected_to = trusted.vouchers.root_fingerprint;
            return std::make_unique<ScriptedClient>(server);
          },
          [this](Duration duration) {
            waits.push_back(duration);
            clock.advance(duration);
          },
          [this] {
            return interrupt_after_waits >= 0 && std::cmp_greater_equal(waits.size(), interrupt_after_waits);
          },
          [this](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            if (found == variables.end()) return std::nullopt;
            return found->second;
          },
          [this](const std::string& question) {
            questions.push_back(question);
            return answer;
          },
          [this](const std::string& address) {
            opened.push_back(address);
            return Status{};
          },
          [this] { return reader_gone; }};
}

int TestWorld::run(const std::vector<std::string>& arguments) {
  out_stream.str("");
  error_stream.str("");
  out_stream.clear(out_fails ? std::ios::badbit : std::ios::goodbit);
  Outside world = outside();
  const int code = run_program(world, arguments);
  out = out_stream.str();
  error = error_stream.str();
  return code;
}

void TestWorld::add_profile() {
  write("admin/admin.json", std::string(R"({"url":")") + test_url + R"(","root_fingerprint":")" +
                                std::string(64, 'a') + R"(","token_file":"token"})");
  const io::Path token = write("admin/token", std::string(test_token) + "\n");
  std::filesystem::permissions(token,
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  variables["GLEANER_PROJECT"] = directory.string();
}

io::Path TestWorld::write(const std::string& name, const std::string& content) {
  const io::Path path = directory / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string TestWorld::read(const io::Path& path) const {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

}  // namespace gleaner::admin

#include "tests/unit/apps/peer.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>

#include "tests/catch.h"

namespace gleaner::test {
namespace {

void make_pipe(int (&ends)[2]) {
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts)
    result.push_back(const_cast<char*>(text.c_str()));  // posix_spawn's type
  result.push_back(nullptr);
  return result;
}

}  // namespace

Peer::Peer(const std::vector<std::string>& arguments, const std::filesystem::path& directory,
           const std::vector<std::string>& environment) {
  std::signal(SIGPIPE, SIG_IGN);
  int input[2];
  int output[2];
  make_pipe(input);
  make_pipe(output);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], 0);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  const int spawned = ::posix_spawn(&pid_, arguments.at(0).c_str(), &actions, nullptr,
                                    pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(input[0]);
  ::close(output[1]);
  to_ = input[1];
  from_ = output[0];
  REQUIRE(spawned == 0);
}

Peer::Peer(std::function<int(int input, int output)> serve) {
  std::signal(SIGPIPE, SIG_IGN);
  int input[2];
  int output[2];
  make_pipe(input);
  make_pipe(output);
  to_ = input[1];
  from_ = output[0];
  thread_ = std::thread([this, serve = std::move(serve), in = input[0], out = output[1]] {
    status_ = serve(in, out);
    ::close(in);
    ::close(out);
  });
}

Peer::~Peer() {
  close_input();
  if (from_ >= 0) ::close(from_);
  if (thread_.joinable()) thread_.join();
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Peer::send(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = ::write(to_, bytes.data() + sent, bytes.size() - sent);
    REQUIRE(count > 0);
    sent += static_cast<std::size_t>(count);
  }
}

bool Peer::fill() {
  pollfd descriptor{from_, POLLIN, 0};
  const int ready = ::poll(&descriptor, 1, 10'000);
  INFO("no answer within ten seconds; so far: " << buffer_.substr(0, 200));
  REQUIRE(ready == 1);
  char bytes[65536];
  const ssize_t count = ::read(from_, bytes, sizeof bytes);
  REQUIRE(count >= 0);
  buffer_.append(bytes, static_cast<std::size_t>(count));
  return count > 0;
}

std::string Peer::read_line() {
  std::size_t newline = 0;
  while ((newline = buffer_.find('\n')) == std::string::npos) {
    if (!fill()) return "<end>";
  }
  std::string line = buffer_.substr(0, newline);
  buffer_.erase(0, newline + 1);
  return line;
}

std::string Peer::read_bytes(std::size_t count) {
  while (buffer_.size() < count) REQUIRE(fill());
  std::string bytes = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return bytes;
}

std::string Peer::collect(std::map<std::int64_t, std::string>& items) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  for (;;) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::string line = read_line();
    if (line.starts_with("item ")) {
      std::size_t used = 0;
      const std::int64_t index = std::stoll(line.substr(5), &used);
      REQUIRE(items.count(index) == 0);
      items[index] = read_bytes(std::stoul(line.substr(5 + used + 1)));
    } else if (!line.starts_with("progress ") && !line.starts_with("log ")) {
      return line;
    }
  }
}

void Peer::close_input() {
  if (to_ >= 0) ::close(to_);
  to_ = -1;
}

std::int64_t Peer::peak_memory() const {
  REQUIRE(pid_ > 0);
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return 1024 * std::stoll(line.substr(6));
  }
  FAIL("the program is gone");
  return 0;
}

int Peer::exit_status() {
  close_input();
  if (thread_.joinable()) thread_.join();
  if (pid_ > 0) {
    int status = 0;
    REQUIRE(::waitpid(pid_, &status, 0) == pid_);
    pid_ = -1;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  return status_;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gleaner-apps-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;  // a leftover directory is no reason to fail
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryDirectory::problem(const std::string& parameters,
                                                  const std::map<std::string, std::string>& inputs) const {
  const std::filesystem::path directory = path_ / "problem";
  std::filesystem::create_directories(directory / "inputs");
  write_text(directory / "parameters.json", parameters);
  for (const auto& [name, bytes] : inputs) write_text(directory / "inputs" / name, bytes);
  return directory;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  REQUIRE(file.good());
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t digest(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace gleaner::test

#include "client/platform/control_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::platform {
namespace {
using namespace std::chrono_literals;

SteadyTime now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

// A daemon that upper-cases nothing but answers with what it got, on a thread of its own.
struct Echo {
  io::Path directory;
  std::unique_ptr<ControlSocket> socket;
  std::atomic<bool> ending{false};
  std::atomic<int> answered{0};
  std::thread thread;

  Echo() {
    static int count = 0;
    directory = std::filesystem::temp_directory_path() /
                ("gleaner-control-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    std::filesystem::create_directories(directory);
    auto made = ControlSocket::listen(path(), 100, [this](std::string_view line) {
      ++answered;
      return "got " + std::to_string(line.size());
    });
    REQUIRE(made.ok());
    socket = std::move(made).value();
    thread = std::thread([this] {
      while (!ending.load()) {
        (void)io::wait_any(socket->waitables(), std::chrono::milliseconds{20});
        socket->serve(now());
      }
    });
  }
  ~Echo() {
    ending = true;
    thread.join();
    socket.reset();
    std::filesystem::remove_all(directory);
  }
  [[nodiscard]] io::Path path() const { return directory / "control.sock"; }
  // Negative: refused, see errno.
  [[nodiscard]] int try_connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path().string();
    text.copy(address.sun_path, sizeof address.sun_path - 1);
    const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return connection;
    ::close(connection);
    return -1;
  }
  [[nodiscard]] int connect() const {
    const int connection = try_connect();
    REQUIRE(connection >= 0);
    return connection;
  }
};

TEST_CASE("A line is answered with a line, and the socket is for its owner only") {
  const Echo echo;
  const auto reply = ask_daemon(echo.path(), "hello", 5s);
  REQUIRE(reply.ok());
  CHECK(*reply == "got 5");
  struct stat facts {};
  REQUIRE(::stat(echo.path().c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
}

TEST_CASE("Another user is not heard, even where the socket was opened to all") {
  if (::geteuid() != 0) {
    WARN("only the superuser can become another user");
    return;
  }
  const Echo echo;
  std::filesystem::permissions(echo.directory, std::filesystem::perms(0755));
  std::filesystem::permissions(echo.path(), std::filesystem::perms(0666));
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;
    if (::setresuid(nobody, nobody, nobody) != 0) ::_exit(2);
    const int connection = echo.try_connect();
    if (connection < 0) ::_exit(errno == EACCES ? 3 : 4);
    char answer[16];
    // The daemon may have hung up already: that is an error here, not a signal that ends this process.
    if (::send(connection, "quit\n", 5, MSG_NOSIGNAL) != 5) ::_exit(0);
    ::_exit(::read(connection, answer, sizeof answer) > 0 ? 1 : 0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
    WARN("others cannot reach this root directory");
    return;
  }
  CHECK(status == 0);
}

TEST_CASE("Garbage, endless lines and callers that say nothing do not keep others out") {
  const Echo echo;
  Random random(3);
  std::vector<int> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(echo.connect());
  for (int i = 0; i < 200; ++i) {
    const int connection = echo.connect();
    std::string bytes;
    for (std::int64_t n = random.between(0, 4000); n > 0; --n)
      bytes.push_back(static_cast<char>(random.below(256)));
    (void)!::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::close(connection);
  }
  bool answered = false;
  for (int i = 0; i < 100 && !answered; ++i) answered = ask_daemon(echo.path(), "still there?", 1s).ok();
  CHECK(answered);
  for (const int connection : silent) ::close(connection);
}

TEST_CASE("No daemon and a stale socket each have their answer, and a long path works") {
  const io::Path directory =
      std::filesystem::temp_directory_path() / ("gleaner-nobody-" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  CHECK(ask_daemon(directory / "control.sock", "x", 1s).error().kind == ErrorKind::not_found);
  const auto answer = [](std::string_view) { return std::string("ok"); };
  {
    auto first = ControlSocket::listen(directory / "control.sock", 100, answer);
    REQUIRE(first.ok());
    auto second = ControlSocket::listen(directory / "control.sock", 100, answer);  // as after a kill
    CHECK(second.ok());
  }
  const io::Path deep = directory / std::string(120, 'x');
  std::filesystem::create_directories(deep);
  CHECK(ControlSocket::listen(deep / "control.sock", 100, answer).ok());
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace gleaner::platform

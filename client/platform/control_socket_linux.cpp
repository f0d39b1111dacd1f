#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "client/platform/control_socket.h"
#include "client/platform/local_socket.h"
#include "shared/io/local_address.h"

namespace gleaner::platform {
namespace {

constexpr std::size_t reply_bytes_max = 4 << 20;

std::string reason(int number) {
  return std::strerror(number);
}

bool is_friend(int connection) {
  const auto user = user_of(connection);
  return user && (*user == ::geteuid() || *user == 0);
}

}  // namespace

struct ControlSocket::State {
  struct Caller {
    int connection = -1;
    SteadyTime until;
    std::string line;
  };
  io::Path path;
  io::Descriptor listener;
  std::size_t line_bytes_max = 0;
  Handler handler;
  std::vector<Caller> callers;

  ~State() {
    for (const Caller& caller : callers) ::close(caller.connection);
    std::error_code ignored;  // it may have been removed by hand
    std::filesystem::remove(path, ignored);
  }

  // The answer goes out at once or not at all: it fits a socket's buffer, and a caller that does not read is
  // dropped.
  void answer(const Caller& caller, std::string reply) const {
    reply += '\n';
    for (std::size_t at = 0; at < reply.size();) {
      const ssize_t put =
          ::send(caller.connection, reply.data() + at, reply.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put <= 0) return;
      at += static_cast<std::size_t>(put);
    }
  }

  // False when the caller is done with.
  bool read(Caller& caller) const {
    char bytes[1024];
    while (true) {
      const ssize_t got = ::recv(caller.connection, bytes, sizeof bytes, MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
      if (got <= 0) return false;
      caller.line.append(bytes, static_cast<std::size_t>(got));
      const auto end = caller.line.find('\n');
      if (end != std::string::npos) {
        answer(caller, handler(std::string_view(caller.line).substr(0, end)));
        return false;
      }
      if (caller.line.size() > line_bytes_max) {
        answer(caller, handler(caller.line));  // which says that it is too long
        return false;
      }
    }
  }
};

ControlSocket::ControlSocket(std::unique_ptr<State> state) : state_(std::move(state)) {}
ControlSocket::~ControlSocket() = default;

Result<std::unique_ptr<ControlSocket>> ControlSocket::listen(const io::Path& path, std::size_t line_bytes_max,
                                                             Handler handler) {
  auto state = std::make_unique<State>();
  TRY_ASSIGN(state->listener, listen_locally(path, 0600));
  state->path = path;
  state->line_bytes_max = line_bytes_max;
  state->handler = std::move(handler);
  return std::unique_ptr<ControlSocket>(new ControlSocket(std::move(state)));
}

std::vector<io::Waitable> ControlSocket::waitables() const {
  std::vector<io::Waitable> all{io::Waitable(state_->listener.get())};
  for (const auto& caller : state_->callers) all.emplace_back(caller.connection);
  return all;
}

void ControlSocket::serve(SteadyTime now) {
  auto& callers = state_->callers;
  while (true) {
    const int connection = accept_locally(state_->listener).release();
    if (connection < 0) break;
    if (!is_friend(connection) || callers.size() >= callers_max) {
      ::close(connection);
      continue;
    }
    callers.push_back({connection, now + patience, {}});
  }
  std::erase_if(callers, [&](State::Caller& caller) {
    if (now < caller.until && state_->read(caller)) return false;
    ::close(caller.connection);
    return true;
  });
}

SteadyTime ControlSocket::wait_until() const {
  SteadyTime earliest = SteadyTime::max();
  for (const auto& caller : state_->callers) earliest = std::min(earliest, caller.until);
  return earliest;
}

Result<std::string> ask_daemon(const io::Path& path, const std::string& line, Duration timeout) {
  const auto nobody = [&path] {
    return Error{ErrorKind::not_found,
                 "no client runs with the state in " + path.parent_path().string() +
                     ": start it with `systemctl start gleaner-client` where a package installed it, else "
                     "with `gleaner-client run`, or name another state with --state"};
  };
  const auto address = io::local_address(path);
  if (!address.ok()) return address.error().kind == ErrorKind::not_found ? nobody() : address.error();
  const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0) return Error{ErrorKind::io, "cannot make a socket: " + reason(errno)};
  struct Closer {
    int number;
    ~Closer() { ::close(number); }
  } const closer{connection};
  if (::connect(connection, address->get(), sizeof address->address) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) return nobody();
    return Error{ErrorKind::io, "cannot reach the client at " + path.string() + ": " + reason(errno)};
  }
  const std::string request = line + "\n";
  if (::send(connection, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size()))
    return Error{ErrorKind::unavailable, "the client does not listen"};
  std::string reply;
  const io::Waitable answer(connection);
  while (reply.find('\n') == std::string::npos) {
    char bytes[16384];
    if (!io::wait_any({&answer, 1}, timeout))
      return Error{ErrorKind::unavailable, "the client does not answer"};
    const ssize_t got = ::recv(connection, bytes, sizeof bytes, 0);
    if (got <= 0)
      return Error{ErrorKind::unavailable, "the client refused the connection: are you its user?"};
    reply.append(bytes, static_cast<std::size_t>(got));
    if (reply.size() > reply_bytes_max) return Error{ErrorKind::too_large, "the client's answer is too long"};
  }
  return reply.substr(0, reply.find('\n'));
}

}  // namespace gleaner::platform

#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "client/platform/local_socket.h"
#include "shared/io/local_address.h"

namespace gleaner::platform {

Result<io::Descriptor> listen_locally(const io::Path& path, mode_t mode) {
  constexpr int backlog = 8;
  TRY_ASSIGN(const io::LocalAddress address, io::local_address(path));
  io::Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  std::error_code ignored;  // absent is what we want
  std::filesystem::remove(path, ignored);
  const mode_t mask = ::umask(0777 & ~mode);
  const int bound = ::bind(listener.get(), address.get(), sizeof address.address);
  const int why = errno;
  ::umask(mask);
  if (!listener.valid() || bound != 0 || ::listen(listener.get(), backlog) != 0)
    return Error{ErrorKind::io, "cannot listen on the socket " + path.string() + ": " + std::strerror(why)};
  return listener;
}

io::Descriptor accept_locally(const io::Descriptor& listener) {
  return io::Descriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

std::optional<uid_t> user_of(int connection) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return peer.uid;
}

}  // namespace gleaner::platform

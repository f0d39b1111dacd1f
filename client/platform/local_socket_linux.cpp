#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "client/platform/local_socket.h"

namespace gleaner::platform {

Result<sockaddr_un> local_address(const io::Path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path)
    return Error{ErrorKind::io, "the path of the socket is too long (" + text +
                                    "): use a state directory with a shorter path"};
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

Result<io::Descriptor> listen_locally(const io::Path& path, mode_t mode) {
  constexpr int backlog = 8;
  TRY_ASSIGN(const sockaddr_un address, local_address(path));
  io::Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  std::error_code ignored;  // absent is what we want
  std::filesystem::remove(path, ignored);
  const mode_t mask = ::umask(0777 & ~mode);
  const int bound = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
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

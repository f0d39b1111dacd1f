#include "tools/admin/browser_handover.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <list>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/crypto/keys.h"
#include "shared/io/browser.h"
#include "shared/io/descriptor.h"
#include "shared/io/loopback_peer.h"

namespace gleaner::admin {
namespace {

constexpr std::size_t connections_max = 16;  // browsers open some in advance
constexpr std::size_t head_bytes_max = 16 << 10;
constexpr int look_milliseconds = 100;  // how soon an interruption is seen

// One request's head, as far as it came.
struct Connection {
  io::Descriptor socket;
  std::string head = {};
};

// Redirects whoever asks for one secret path.
class Handover {
 public:
  // The loopback address to be opened.
  Result<std::string> listen();
  // For a moment. True: the browser has been told the address.
  bool serve(const std::string& address);

 private:
  void accept();
  bool answer(Connection& connection, const std::string& address);

  io::Descriptor listener_;
  std::string path_;
  std::list<Connection> connections_;  // the oldest first
};

Result<std::string> Handover::listen() {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  listener_ = io::Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  if (!listener_.valid() || ::bind(listener_.get(), address, size) != 0 ||
      ::listen(listener_.get(), connections_max) != 0 || ::getsockname(listener_.get(), address, &size) != 0)
    return Error{ErrorKind::unavailable, "cannot listen on 127.0.0.1"};
  // Not what protects the address, as other users see it; but no web page can guess it.
  path_ = "/" + to_hex(crypto::random_secret(16));
  return "http://127.0.0.1:" + std::to_string(ntohs(place.sin_port)) + path_;
}

void Handover::accept() {
  io::Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket.valid() || !io::peer_is_of_own_user(socket.get())) return;
  if (connections_.size() == connections_max) connections_.pop_front();
  connections_.push_back({std::move(socket)});
}

bool Handover::serve(const std::string& address) {
  std::vector<pollfd> waiting{{listener_.get(), POLLIN, 0}};
  for (const Connection& each : connections_) waiting.push_back({each.socket.get(), POLLIN, 0});
  if (::poll(waiting.data(), waiting.size(), look_milliseconds) <= 0) return false;
  for (auto each = connections_.begin(); each != connections_.end();) {
    char data[4096];
    const ssize_t got = ::recv(each->socket.get(), data, sizeof data, 0);
    if (got > 0) each->head.append(data, static_cast<std::size_t>(got));
    const bool complete = each->head.find("\r\n\r\n") != std::string::npos;
    if (complete && answer(*each, address)) return true;
    const bool over = got == 0 || (got < 0 && errno != EAGAIN) || each->head.size() > head_bytes_max;
    each = complete || over ? connections_.erase(each) : std::next(each);
  }
  if (waiting.front().revents != 0) accept();
  return false;
}

// True: it was asked for the path, and was told the address.
bool Handover::answer(Connection& connection, const std::string& address) {
  const bool right = connection.head.starts_with("GET " + path_ + " HTTP/1.");
  const std::string reply = std::string("HTTP/1.1 ") +
                            (right ? "303 See Other\r\nLocation: " + address : std::string("404 Not Found")) +
                            "\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\nContent-Length: 0"
                            "\r\nConnection: close\r\n\r\n";
  const ssize_t sent = ::send(connection.socket.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
  return right && sent == static_cast<ssize_t>(reply.size());
}

// Did the program that opens addresses say that it could not?
bool has_failed(int opener) {
  int status = 0;
  return ::waitpid(opener, &status, WNOHANG) == opener && status != 0;
}

}  // namespace

Status hand_to_browser(const std::string& address, Duration patience,
                       const std::function<bool()>& interrupted) {
  Handover handover;
  TRY_ASSIGN(const std::string place, handover.listen());
  TRY_ASSIGN(const int opener, io::open_in_browser(place));
  const SteadyTime end = system_clock().steady() + patience;
  while (system_clock().steady() < end && !interrupted()) {
    if (handover.serve(address)) return {};
    if (has_failed(opener)) return Error{ErrorKind::unavailable, "xdg-open found no browser"};
  }
  return Error{ErrorKind::unavailable, "no browser came"};
}

}  // namespace gleaner::admin

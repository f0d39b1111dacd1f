#include "client/agent/uplink.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "client/agent/report/notice.h"
#include "shared/io/local_address.h"

namespace gleaner::agent {
namespace {

constexpr std::size_t heard_max = 16;  // lines in a turn

io::Descriptor connect_to(const std::filesystem::path& path) {
  const auto address = io::local_address(path);
  if (!address.ok()) return {};
  io::Descriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection.valid()) return {};
  if (::connect(connection.get(), address->get(), sizeof address->address) != 0) return {};
  return connection;
}

}  // namespace

Uplink::Uplink(std::vector<std::filesystem::path> sockets) {
  for (std::filesystem::path& path : sockets) clients_.push_back({std::move(path), {}, {}});
}

bool Uplink::hear(std::size_t number) {
  Client& client = clients_[number];
  std::array<char, notice_line_bytes_max> bytes{};
  const ssize_t got = ::recv(client.connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  client.line.append(bytes.data(), static_cast<std::size_t>(got));
  for (auto end = client.line.find('\n'); end != std::string::npos; end = client.line.find('\n')) {
    heard_.push_back({number, client.line.substr(0, end)});
    client.line.erase(0, end + 1);
  }
  return got > 0 && client.line.size() <= notice_line_bytes_max && heard_.size() <= heard_max;
}

bool Uplink::serve(SteadyTime now) {
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    Client& client = clients_[i];
    if (!client.connection.valid() || hear(i)) continue;
    client.connection.reset();
    client.line.clear();
    retry_at_ = std::min(retry_at_, now + retry_interval);
  }
  if (now < retry_at_) return false;
  bool found = false;
  for (Client& client : clients_) {
    if (client.connection.valid()) continue;
    client.connection = connect_to(client.path);
    found = found || client.connection.valid();
  }
  retry_at_ = now + (clients() > 0 ? others_interval : retry_interval);
  return found;
}

void Uplink::tell(const std::string& line) {
  for (std::size_t i = 0; i < clients_.size(); ++i) tell(i, line);
}

void Uplink::tell(std::size_t number, const std::string& line) {
  const std::string text = line + "\n";
  Client& client = clients_.at(number);
  if (!client.connection.valid()) return;
  // Half a line could not be taken back: the connection would be of no use any more.
  if (::send(client.connection.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(text.size()))
    client.connection.reset();
}

std::vector<io::Waitable> Uplink::waitables() const {
  std::vector<io::Waitable> all;
  for (const Client& client : clients_)
    if (client.connection.valid()) all.emplace_back(client.connection.get());
  return all;
}

SteadyTime Uplink::wait_until() const {
  return clients() == clients_.size() ? SteadyTime::max() : retry_at_;
}

std::size_t Uplink::clients() const {
  return static_cast<std::size_t>(std::count_if(
      clients_.begin(), clients_.end(), [](const Client& client) { return client.connection.valid(); }));
}

std::vector<std::filesystem::path> usual_sockets() {
  std::vector<std::filesystem::path> all = {"/run/gleaner-client/agent.sock"};
  const char* const data = std::getenv("XDG_DATA_HOME");
  const char* const home = std::getenv("HOME");
  if (data != nullptr && *data != '\0')
    all.push_back(std::filesystem::path(data) / "gleaner-client/agent.sock");
  else if (home != nullptr && *home != '\0')
    all.push_back(std::filesystem::path(home) / ".local/share/gleaner-client/agent.sock");
  return all;
}

}  // namespace gleaner::agent

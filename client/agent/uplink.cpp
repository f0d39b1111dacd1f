#include "client/agent/uplink.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>

#include "shared/io/local_address.h"

namespace gleaner::agent {
namespace {

io::Descriptor connect_to(const std::filesystem::path& path) {
  const auto address = io::local_address(path);
  if (!address.ok()) return {};
  io::Descriptor connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection.valid()) return {};
  if (::connect(connection.get(), address->get(), sizeof address->address) != 0) return {};
  return connection;
}

// Clients say nothing: what can be read is the end.
bool is_gone(int connection) {
  char byte = 0;
  return ::recv(connection, &byte, 1, MSG_DONTWAIT) == 0;
}

}  // namespace

Uplink::Uplink(std::vector<std::filesystem::path> sockets) {
  for (std::filesystem::path& path : sockets) clients_.push_back({std::move(path), {}});
}

bool Uplink::serve(SteadyTime now) {
  for (Client& client : clients_) {
    if (!client.connection.valid() || !is_gone(client.connection.get())) continue;
    client.connection.reset();
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
  const std::string text = line + "\n";
  for (Client& client : clients_) {
    if (!client.connection.valid()) continue;
    // Half a line could not be taken back: the connection would be of no use any more.
    if (::send(client.connection.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
        static_cast<ssize_t>(text.size()))
      client.connection.reset();
  }
}

std::vector<int> Uplink::descriptors() const {
  std::vector<int> all;
  for (const Client& client : clients_)
    if (client.connection.valid()) all.push_back(client.connection.get());
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

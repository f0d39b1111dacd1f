#include "server/http/server_core.h"

#include <cstdio>

#include "server/http/server_connection.h"

namespace gleaner::http {

Core::Core(ServerOptions given_options, Handler given_handler, TlsContext given_tls)
    : options(std::move(given_options)),
      handler(std::move(given_handler)),
      tls(std::move(given_tls)),
      io(options.threads) {}

bool Core::enter(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  if (connections_.size() >= static_cast<std::size_t>(options.connections_max)) return false;
  connections_.emplace(connection.get(), connection);
  return true;
}

void Core::leave(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  connections_.erase(connection);
  if (connections_.empty()) emptied_.notify_all();
}

std::vector<std::shared_ptr<Connection>> Core::connections() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Connection>> alive;
  alive.reserve(connections_.size());
  for (const auto& [key, connection] : connections_) {
    if (auto shared = connection.lock()) alive.push_back(std::move(shared));
  }
  return alive;
}

bool Core::wait_until_empty(Duration patience) const {
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, patience, [&] { return connections_.empty(); });
}

void Core::log(const std::string& line) const {
  if (options.log) {
    options.log(line);
  } else {
    std::fputs(("http: " + line + "\n").c_str(), stderr);
  }
}

}  // namespace gleaner::http

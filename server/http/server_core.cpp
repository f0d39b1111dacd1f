#include "server/http/server_core.h"

#include <cstdio>
#include <utility>

#include "server/http/server_connection.h"
#include "shared/base/clean_text.h"

namespace gleaner::http {

Core::Core(ServerOptions given_options, Handler given_handler, TlsContext given_tls)
    : options(std::move(given_options)), handler(std::move(given_handler)), io(options.threads) {
  use(std::move(given_tls));
}

std::shared_ptr<const TlsContext> Core::tls() const {
  const std::lock_guard lock(tls_mutex_);
  return tls_;
}

void Core::use(TlsContext tls) {
  options.figures->certificate_not_after = tls.not_after();
  const std::lock_guard lock(tls_mutex_);
  tls_ = std::make_shared<const TlsContext>(std::move(tls));
}

bool Core::enter(const std::shared_ptr<Connection>& connection) {
  std::shared_ptr<Connection> silent;
  std::shared_ptr<Connection> idle;
  {
    const std::lock_guard lock(mutex_);
    const auto known = networks_.find(connection->network());
    const bool network_full =
        known != networks_.end() && known->second.connections >= options.connections_per_network_max;
    if (network_full || connections_.size() >= static_cast<std::size_t>(options.connections_max)) {
      idle = oldest(network_full ? known->second.idle : idle_);
      if (!idle) return false;
    }
    const auto place = networks_.try_emplace(connection->network()).first;
    Network& network = place->second;
    if (network.silent.size() >= static_cast<std::size_t>(options.silent_per_network_max)) {
      silent = connections_.at(network.silent.front()).connection.lock();
      network.silent.pop_front();
    }
    ++network.connections;
    network.silent.push_back(connection.get());
    ++options.figures->open;
    connections_.emplace(connection.get(), Entry{connection, place, {connection.get()}, {connection.get()}});
  }
  if (silent) silent->close();
  if (idle) idle->close_if_idle();
  return true;
}

void Core::take_out(Entry& entry) {
  if (!entry.of_all.empty()) return;
  entry.of_all.splice(entry.of_all.end(), idle_, entry.in_all);
  entry.of_network.splice(entry.of_network.end(), entry.network->second.idle, entry.in_network);
}

std::shared_ptr<Connection> Core::oldest(const std::list<const Connection*>& idle) {
  while (!idle.empty()) {
    Entry& entry = connections_.at(idle.front());
    take_out(entry);
    if (auto connection = entry.connection.lock()) return connection;
  }
  return nullptr;
}

void Core::idles(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(connection);
  if (found == connections_.end() || found->second.of_all.empty()) return;
  Entry& entry = found->second;
  entry.in_all = entry.of_all.begin();
  entry.in_network = entry.of_network.begin();
  idle_.splice(idle_.end(), entry.of_all);
  entry.network->second.idle.splice(entry.network->second.idle.end(), entry.of_network);
}

void Core::wakes(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  if (const auto found = connections_.find(connection); found != connections_.end()) take_out(found->second);
}

void Core::has_spoken(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  if (const auto found = connections_.find(connection); found != connections_.end())
    found->second.network->second.silent.remove(connection);
}

void Core::leave(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  const auto network = found->second.network;
  network->second.silent.remove(connection);
  take_out(found->second);
  drop_room(found->second);
  if (--network->second.connections == 0) networks_.erase(network);
  connections_.erase(found);
  --options.figures->open;
  if (connections_.empty()) emptied_.notify_all();
}

bool Core::moves(const std::shared_ptr<Connection>& connection, const std::function<void()>& rename) {
  {
    const std::lock_guard lock(mutex_);
    ++moving_;
  }
  leave(connection.get());
  rename();
  const bool entered = enter(connection);
  const std::lock_guard lock(mutex_);
  --moving_;
  emptied_.notify_all();
  return entered;
}

bool Core::take_room(const Connection* connection, std::int64_t bytes) {
  constexpr std::int64_t networks_share = 4;  // one of so many parts
  if (bytes <= small_body_bytes) return true;
  const std::lock_guard lock(mutex_);
  const auto found = connections_.find(connection);
  if (found == connections_.end()) return false;
  Network& network = found->second.network->second;
  if (bodies_bytes_ + bytes > options.bodies_bytes_max ||
      network.bodies_bytes + bytes > options.bodies_bytes_max / networks_share)
    return false;
  found->second.body_bytes = bytes;
  network.bodies_bytes += bytes;
  bodies_bytes_ += bytes;
  return true;
}

void Core::drop_room(const Connection* connection) {
  const std::lock_guard lock(mutex_);
  if (const auto found = connections_.find(connection); found != connections_.end()) drop_room(found->second);
}

void Core::drop_room(Entry& entry) {
  const std::int64_t bytes = std::exchange(entry.body_bytes, 0);
  entry.network->second.bodies_bytes -= bytes;
  bodies_bytes_ -= bytes;
}

std::vector<std::shared_ptr<Connection>> Core::connections() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Connection>> alive;
  alive.reserve(connections_.size());
  for (const auto& [key, entry] : connections_) {
    if (auto shared = entry.connection.lock()) alive.push_back(std::move(shared));
  }
  return alive;
}

bool Core::wait_until_empty(Duration patience) const {
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, patience, [&] { return connections_.empty() && moving_ == 0; });
}

void Core::log(const std::string& line) const {
  if (options.log) {
    options.log(line);
  } else {
    std::fputs(("http: " + clean_line(line) + "\n").c_str(), stderr);
  }
}

}  // namespace gleaner::http

// What a server's connections share. Kept alive by each of them, so that a reply that comes late, even after
// the Server is gone, finds solid ground. Thread-safe. Private to this module.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/http/server.h"
#include "server/http/tls_context.h"

namespace gleaner::http {

class Connection;

class Core {
 public:
  Core(ServerOptions options, Handler handler, TlsContext tls);

  // False if there are connections_max already, or connections_per_network_max of its network. May close the
  // oldest silent connection of the network instead.
  [[nodiscard]] bool enter(const std::shared_ptr<Connection>& connection);
  // It has sent a whole request's header.
  void has_spoken(const Connection* connection);
  void leave(const Connection* connection);
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> connections() const;
  // True once all have left.
  bool wait_until_empty(Duration patience) const;

  void log(const std::string& line) const;
  [[nodiscard]] bool stopping() const { return stopping_.load(); }
  void begin_stop() { stopping_.store(true); }

  const ServerOptions options;
  const Handler handler;
  const TlsContext tls;
  boost::asio::io_context io;

 private:
  struct Network {
    int connections = 0;
    std::list<const Connection*> silent;  // oldest first
  };
  struct Entry {
    std::weak_ptr<Connection> connection;
    std::map<std::string, Network>::iterator network;
  };

  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable emptied_;
  std::unordered_map<const Connection*, Entry> connections_;
  std::map<std::string, Network> networks_;  // of the connections, which point into it
};

}  // namespace gleaner::http

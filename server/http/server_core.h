// What a server's connections share. Kept alive by each of them, so that a reply that comes late, even after
// the Server is gone, finds solid ground. Thread-safe. Private to this module.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <functional>
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

  // False if there are connections_max already, or connections_per_network_max of its network, and none of
  // these is idle: else the one that is idle longest is closed. May close the oldest silent connection of the
  // network, too.
  [[nodiscard]] bool enter(const std::shared_ptr<Connection>& connection);
  // It has sent a whole request's header.
  void has_spoken(const Connection* connection);
  // It waits for its next request; it waits no longer.
  void idles(const Connection* connection);
  void wakes(const Connection* connection);
  void leave(const Connection* connection);
  // It turns out to be of another network, which `rename` says to it: counts there as a new one does. As
  // enter().
  [[nodiscard]] bool moves(const std::shared_ptr<Connection>& connection,
                           const std::function<void()>& rename);
  // Keeps memory for the body that it sends, until drop_room() or leave(). False: there is none now.
  [[nodiscard]] bool take_room(const Connection* connection, std::int64_t bytes);
  void drop_room(const Connection* connection);
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> connections() const;
  // True once all have left.
  bool wait_until_empty(Duration patience) const;

  void log(const std::string& line) const;
  // Every answer is its connection's last; from begin_stop() on, nothing is waited for either.
  [[nodiscard]] bool draining() const { return draining_.load(); }
  [[nodiscard]] bool stopping() const { return stopping_.load(); }
  void begin_drain() { draining_.store(true); }
  void begin_stop() { stopping_.store(true); }

  const ServerOptions options;
  const Handler handler;
  // Of connections from now on; those that there are keep theirs.
  [[nodiscard]] std::shared_ptr<const TlsContext> tls() const;
  void use(TlsContext tls);
  boost::asio::io_context io;

 private:
  struct Network {
    int connections = 0;
    std::int64_t bodies_bytes = 0;
    std::list<const Connection*> silent, idle;  // oldest first
  };
  struct Entry {
    std::weak_ptr<Connection> connection;
    std::map<std::string, Network>::iterator network;
    // Its nodes of the lists of idle connections, while it is not idle, and where they are while it is: none
    // is made or freed for a request.
    std::list<const Connection*> of_all, of_network;
    std::list<const Connection*>::iterator in_all = {}, in_network = {};
    std::int64_t body_bytes = 0;  // the room that it has
  };
  // Out of the lists of idle ones, if it is there.
  void take_out(Entry& entry);
  void drop_room(Entry& entry);
  // Makes room: who is to close, and counts no more as idle. Null: nobody is idle.
  [[nodiscard]] std::shared_ptr<Connection> oldest(const std::list<const Connection*>& idle);

  std::atomic<bool> draining_ = false;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex tls_mutex_;
  std::shared_ptr<const TlsContext> tls_;
  mutable std::mutex mutex_;
  mutable std::condition_variable emptied_;
  std::unordered_map<const Connection*, Entry> connections_;
  std::map<std::string, Network> networks_;  // of the connections, which point into it
  std::list<const Connection*> idle_;        // of all networks, oldest first
  std::int64_t bodies_bytes_ = 0;            // of all networks
  int moving_ = 0;                           // connections that are in none of these just now
};

}  // namespace gleaner::http

// Serves the page on the loopback device, to a few connections at a time, until stopped or until nobody with
// the token has asked for a while. On the caller's thread. Slow, silent and oversized requests end their
// connection. Any user of this computer can connect: connections of other users have places of their own, and
// where all places are taken the oldest connection that has shown no token makes way, so that nobody can shut
// the owner out.
#pragma once

#include <functional>
#include <memory>

#include "client/page/rules.h"
#include "shared/base/clock.h"

namespace gleaner::page {

class Server {
 public:
  // port 0: any free one. unavailable if it is taken.
  [[nodiscard]] static Result<std::unique_ptr<Server>> listen(int port, std::string token, Backend& backend);
  ~Server();

  [[nodiscard]] int port() const;
  // From now on open_target leads the user that runs this to the page, once.
  void open_for_own_user();
  // Until SIGTERM or SIGINT, or until `unused_for` has passed without a request that was let in.
  void run(Duration unused_for);

  static constexpr int connections_max = 16;                      // of our own user; a browser makes six
  static constexpr int strangers_max = 8;                         // connections of all other users
  static constexpr Duration patience = std::chrono::seconds{15};  // between requests, and for one

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::page

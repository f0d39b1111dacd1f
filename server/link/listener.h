// The leader's end of its links: takes frames of any number of front ends and hands each operation to the
// handler. One thread of its own. Bounded: frames, operations under way of a connection, bytes that wait for
// one that does not read, connections, time for a handshake. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "server/link/address.h"
#include "server/link/frame.h"
#include "server/link/identity.h"

namespace gleaner::link {

// One operation under way. It is answered once, by done() or fail(), from any thread; who drops it unanswered
// fails it.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void done(std::string_view body) = 0;
  virtual void fail(const Error& error) = 0;
  // One of many answers, before the last.
  virtual void piece(std::string_view body) = 0;
  // Nobody wants more of them.
  [[nodiscard]] virtual bool over() const = 0;
};

struct ListenerOptions {
  Address address;
  Identity identity;                                 // of TCP
  std::function<void(const std::string& line)> log;  // what an administrator should read
};

class Listener {
 public:
  // On the listener's thread; must not block. The body is there until it returns.
  using Handler = std::function<void(Kind kind, std::string_view body, std::shared_ptr<Exchange> exchange)>;
  // Errors say what to do.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> start(ListenerOptions options, Handler handler);
  ~Listener();  // stop()
  // Front ends are told to find the next leader. Returns when each has the answers to what it sent before,
  // and is gone; at the latest after `patience`.
  void hand_over(std::chrono::milliseconds patience);
  // Operations answered later are answered to nobody.
  void stop();

 private:
  struct State;
  explicit Listener(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

}  // namespace gleaner::link

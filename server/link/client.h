// A front end's link to whoever leads its project: finds the server that answers, keeps the connection, and
// finds the next one when it breaks, falls silent, or says that it leaves. Meanwhile operations are held, for
// a while, and the next leader is asked them. One thread of its own. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/link/address.h"
#include "server/link/frame.h"
#include "server/link/identity.h"

namespace gleaner::link {

struct ClientOptions {
  std::vector<Address> servers;
  Identity identity;    // of TCP
  std::string project;  // as Hello has it
  std::function<void(const std::string& line)> log;
  // From when there is no leader any more. A standby leads within a second of one that left or died, and
  // within five of one that fell silent. 0: nothing is held.
  std::chrono::milliseconds hold{5000};
};

// What may be done twice, since whoever asked would ask again: all that hosts do.
enum class Repeat { no, yes };

class Client {
 public:
  // Called with `done` or `error` (a packed Error) once, and with any number of `piece` before. On the link's
  // thread, or on the caller's where there is no link; must not block. The body is there until it returns.
  using Answer = std::function<void(Kind kind, std::string_view body)>;

  // invalid: the identity is none.
  [[nodiscard]] static Result<std::unique_ptr<Client>> start(ClientOptions options);
  ~Client();  // stop()
  // Everything is unavailable from now on.
  void stop();

  // The operation's id. It is unavailable if there is no leader and too much is held, or was for too long;
  // and where a link broke after it was sent, and it may not be repeated.
  std::uint64_t ask(Kind kind, std::string_view body, Answer answer, Repeat repeat = Repeat::yes);
  // Nothing more is wanted of it, and nobody is told.
  void stop(std::uint64_t id);
  // A leader answers, or operations are held until the next one does. unavailable: since when none does, and
  // why.
  [[nodiscard]] Status ready() const;

  struct Figures {
    std::int64_t asked = 0, unavailable = 0, held = 0, connections = 0;
  };
  [[nodiscard]] Figures figures() const;

 private:
  struct State;
  explicit Client(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

}  // namespace gleaner::link

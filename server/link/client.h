// A front end's link to whoever leads its project: finds the server that answers, keeps the connection, and
// finds the next one when it breaks or falls silent. What was under way then is unavailable: it may have been
// done, and whoever asked asks again. One thread of its own. Thread-safe.
#pragma once

#include <atomic>
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
};

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

  // The operation's id.
  std::uint64_t ask(Kind kind, std::string_view body, Answer answer);
  // Nothing more is wanted of it, and nobody is told.
  void stop(std::uint64_t id);
  // A leader answers. unavailable: since when none does, and why.
  [[nodiscard]] Status ready() const;

  struct Figures {
    std::int64_t asked = 0, unavailable = 0, connections = 0;
  };
  [[nodiscard]] Figures figures() const;

 private:
  struct State;
  explicit Client(std::shared_ptr<State> state);
  const std::shared_ptr<State> state_;
};

}  // namespace gleaner::link

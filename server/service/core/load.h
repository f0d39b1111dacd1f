// Who is served now, and who is asked to come again: at once, instead of making everybody wait. Three bounds,
// which server/SECURITY.md gives the reasons of: requests under way, of all and of one network; requests in a
// second and bytes in a second, of one host and of one network. Hosts that have delivered, and the project's
// own, are served when strangers are not any more. From memory; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/service/core/configuration.h"
#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/limits.h"
#include "shared/base/result.h"

namespace gleaner::service {

class Load {
 public:
  // An administrator, whom a flood from its own network must not keep from ending it, only counts.
  enum class Caller { stranger, proven, administrator };
  struct Visitor {
    Caller caller = Caller::stranger;
    std::string network;
    std::optional<HostId> host = std::nullopt;  // absent: anybody, or an administrator
  };
  // large: it moves a blob, or a body that is not small. Refused of who has taken more bytes than it may.
  enum class Size { small, large };

  // Of one network, so that many computers there, or one with many connections, leave places to others.
  static constexpr int strangers_of_network_max = limits::strangers_requests_under_way_max / 4;
  static constexpr int of_network_max = limits::requests_under_way_max / 2;
  // Hosts that ask more often than this, and more than `at_once` of it at once, are served while there is
  // little to do, and a few at a time.
  static constexpr Duration client_asks_every = std::chrono::seconds{5};
  // So much of a second's requests and bytes may come at once. Strangers have half of it in common, of their
  // network's; the other half is for hosts there that have delivered.
  static constexpr Duration at_once = std::chrono::seconds{60};

  // `clock` must outlive it.
  Load(const Clock& clock, const Configuration& configuration);

  struct State;
  struct Entry;
  // Whose bytes are counted. May be kept when the request is over.
  class Account {
   public:
    Account(std::shared_ptr<State> state, std::shared_ptr<Entry> host, std::shared_ptr<Entry> network);
    void take(std::int64_t bytes) const;
    void give_back(std::int64_t bytes) const;  // of what was taken: it was not moved
   private:
    const std::shared_ptr<State> state_;
    const std::shared_ptr<Entry> host_, network_;  // whose quotas it has; null: none
  };
  class Ticket;
  // The request is under way as long as somebody holds this, or until it is answered (Ticket::leave).
  using Place = std::shared_ptr<Ticket>;

  // unavailable: why there is no place for it now. Who is refused has taken nothing.
  [[nodiscard]] Result<Place> enter(const Visitor& who, Size size);
  // Has the host taken more bytes than it may? Then no large body of it need be read.
  [[nodiscard]] bool owes(HostId host) const;
  [[nodiscard]] int under_way() const;
  // Requests that found no place, since the server started.
  [[nodiscard]] std::int64_t refused() const;

 private:
  const std::shared_ptr<State> state_;
};

class Load::Ticket {
 public:
  enum class Pace { often, seldom };
  Ticket(std::shared_ptr<State> state, std::shared_ptr<Entry> network, Account account, Pace pace);
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;
  ~Ticket();
  [[nodiscard]] const Account& account() const { return account_; }
  // Is it this request's turn to be worked on? At once, unless its host asks often.
  [[nodiscard]] bool begin();
  // It was not: calls `work`, which must hold the ticket, when it is; on the thread of one that leaves.
  void wait(std::function<void()> work);
  // Before it is answered: whoever has the answer may ask again at once, and needs a place then.
  void leave();

 private:
  friend struct State;
  const std::shared_ptr<State> state_;
  const std::shared_ptr<Entry> network_;
  const Account account_;
  const Pace pace_;
  bool begun_ = false, left_ = false;  // guarded by the state's mutex
};

}  // namespace gleaner::service

// Messages and replies of a simulated grid under way, by when they arrive. Internal.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tools/simulator/grid_host.h"

namespace gleaner::simulator {

struct Granted {
  int slot = 0;
  UnitId unit;
  std::size_t problem = 0;
  Range range;
  policy::UnitKind kind = policy::UnitKind::fresh;
  double begun_share = 0;  // of the first item: it goes on from there
  double commit_seconds = 60;
};

struct Reply {
  std::size_t host = 0;
  std::int64_t exchange = 0;  // that it answers
  std::vector<protocol::UnitOrder> orders = {};
  std::vector<UnitId> refused = {};  // whose results are not taken
  std::vector<Granted> grants = {};
  std::size_t slots = 0;  // that asked for work
  bool urgent = false;    // one of them idle
  double retry_after = 0;
  double interval = 0;  // until the next heartbeat; 0: nothing is said of it
  double slowest_performance = 0;
  void clear();
};

// A message at the server, a reply at its host, a problem that is added, or, with none of these, a restart.
struct Arrival {
  double time = 0;
  std::unique_ptr<Message> message = {};
  std::unique_ptr<Reply> reply = {};
  std::optional<std::size_t> problem = {};
  bool waited = false;     // the message, for the server
  std::int64_t order = 0;  // ties: as sent
};

// Letters are allocated alone, since a million are under way when all hosts begin and hardly any later; those
// that have come are used again, for the memory of their lists.
class Mail {
 public:
  [[nodiscard]] std::unique_ptr<Message> message() { return take(spare_messages_); }
  [[nodiscard]] std::unique_ptr<Reply> reply() { return take(spare_replies_); }
  void keep(std::unique_ptr<Message> letter) { keep(std::move(letter), spare_messages_); }
  void keep(std::unique_ptr<Reply> letter) { keep(std::move(letter), spare_replies_); }

  void send(Arrival arrival);      // behind what arrives at the same time
  void put_back(Arrival arrival);  // it arrives at another time, in the order in which it was sent
  [[nodiscard]] bool empty() const { return due_.empty(); }
  [[nodiscard]] double next_at() const { return due_.front().time; }
  [[nodiscard]] const Arrival& next() const { return under_way_[due_.front().place]; }
  [[nodiscard]] Arrival pop();

 private:
  static constexpr std::size_t spares_max = 4096;

  template <typename Letter>
  [[nodiscard]] static std::unique_ptr<Letter> take(std::vector<std::unique_ptr<Letter>>& spare) {
    if (spare.empty()) return std::make_unique<Letter>();
    std::unique_ptr<Letter> letter = std::move(spare.back());
    spare.pop_back();
    return letter;
  }
  template <typename Letter>
  static void keep(std::unique_ptr<Letter> letter, std::vector<std::unique_ptr<Letter>>& spare) {
    if (spare.size() == spares_max) return;
    letter->clear();
    spare.push_back(std::move(letter));
  }

  struct Due {
    double time = 0;
    std::int64_t order = 0;
    std::size_t place = 0;
    bool operator>(const Due& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  std::vector<Due> due_;             // a heap, the first in front; what arrives stays in its place meanwhile
  std::vector<Arrival> under_way_;   // by place
  std::vector<std::size_t> vacant_;  // places
  std::int64_t order_ = 0;
  std::vector<std::unique_ptr<Message>> spare_messages_;
  std::vector<std::unique_ptr<Reply>> spare_replies_;
};

}  // namespace gleaner::simulator

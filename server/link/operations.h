// What a front end has asked of whoever leads, until it is answered: what was sent, and what is held until
// somebody leads. What may be repeated is kept as it was sent, and held when its link breaks; a second time,
// it is given up, so that an operation that ends leaders ends no more than two. Bounded. Not thread-safe.
// Private to this module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/link/client.h"

namespace gleaner::link {

class Operations {
 public:
  using Answer = Client::Answer;
  // Less than a leader has under way of one connection (listener.cpp), and than a connection lets wait.
  static constexpr std::size_t held_max = 6000, kept_bytes_max = 32 << 20;

  void add_sent(std::uint64_t id, Kind kind, std::string_view body, Answer answer, Repeat repeat);
  // false: too much is held already; nothing was taken.
  [[nodiscard]] bool hold(std::uint64_t id, Kind kind, std::string_view body, const Answer& answer,
                          Repeat repeat);
  // Who waits for this frame; empty: nobody. Only after a piece it goes on.
  [[nodiscard]] Answer find(const Frame& frame);
  // false: there is none.
  bool remove(std::uint64_t id);
  [[nodiscard]] bool any_sent() const { return operations_.size() > held_; }
  [[nodiscard]] std::size_t held() const { return held_; }
  // Sends all that is held, as it was asked.
  void send_held(const std::function<void(std::uint64_t id, Kind kind, std::string_view body)>& send);
  // Their link broke. Holds what may be repeated, and returns who waited for the others.
  [[nodiscard]] std::vector<Answer> broken();
  // Those that have had a piece, and would go on.
  [[nodiscard]] std::vector<Answer> take_streams();
  [[nodiscard]] std::vector<Answer> take_held();

 private:
  struct Operation {
    Kind kind = Kind::hello;
    Answer answer;
    Bytes body;  // empty, if it is not kept
    Repeat repeat = Repeat::no;
    bool sent = false, streams = false;
    int times = 0;  // sent
  };
  using Table = std::unordered_map<std::uint64_t, Operation>;
  Table::iterator erase(Table::iterator at);
  template <typename Predicate>
  std::vector<Answer> take_if(Predicate predicate);

  Table operations_;
  std::size_t held_ = 0, kept_bytes_ = 0;
};

}  // namespace gleaner::link

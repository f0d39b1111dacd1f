// An answer that does not end by itself: what is published goes to everybody who follows. Each piece is a
// whole state, so who is slow misses the ones between: nothing piles up for anybody. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace gleaner::http {

class Feed {
 public:
  using Piece = std::shared_ptr<const std::string>;
  using Follower =
      std::function<void(Piece)>;  // on the publisher's thread; must not block, nor call the feed

  // `of_one_max`: of followers with one name, so that nobody shuts the others out.
  explicit Feed(std::size_t followers_max, std::size_t of_one_max = static_cast<std::size_t>(-1))
      : followers_max_(followers_max), of_one_max_(of_one_max) {}

  // The follower is told the present piece at once, if there is one. Nothing: there are too many already.
  [[nodiscard]] std::optional<std::uint64_t> follow(Follower follower, const std::string& who = {});
  void leave(std::uint64_t follower);
  void publish(Piece piece);
  [[nodiscard]] std::size_t followers() const;
  [[nodiscard]] bool full(const std::string& who = {}) const;

 private:
  struct Following {
    std::string who;
    Follower tell;
  };
  [[nodiscard]] bool is_full(const std::string& who) const;  // under the mutex

  const std::size_t followers_max_, of_one_max_;
  mutable std::mutex mutex_;
  std::uint64_t last_ = 0;
  Piece present_;
  std::map<std::uint64_t, Following> followers_;
};

}  // namespace gleaner::http

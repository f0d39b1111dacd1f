// How many bytes of a large transfer one request asks for. A piece is what the line moves in about `aim`: a
// broken connection then costs little of a slow line, and round trips cost little of a fast one. Pure. Not
// thread-safe.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"

namespace gleaner::transport {

class PieceSize {
 public:
  struct Bounds {
    std::int64_t first, least, most;  // bytes; first: while nothing is known of the line
    Duration aim;
  };
  explicit PieceSize(const Bounds& bounds) : bounds_(bounds), next_(bounds.first) {}

  [[nodiscard]] std::int64_t next() const { return next_; }
  // A request moved so many bytes, and took so long from its first byte to the answer.
  void moved(std::int64_t bytes, Duration took);
  // A request broke off.
  void broken();
  // Of the last pieces; 0: not known.
  [[nodiscard]] double bytes_per_second() const { return rate_; }
  // How long a piece takes at most that the line moves as it did.
  [[nodiscard]] Duration expected(std::int64_t bytes) const;

 private:
  const Bounds bounds_;
  std::int64_t next_;
  double rate_ = 0;
};

// What comes is kept byte by byte: a piece bounds only how long a server has to wait for a slow reader.
inline constexpr PieceSize::Bounds download_pieces{256 << 10, 16 << 10, 4 << 20, std::chrono::seconds{20}};
// A server or a front end that is killed loses the part of a piece that it has, which is in its memory: some
// 5 s of the line. Of a connection that breaks, it is stored, and the next piece may come to another front
// end. The first piece fits the limit that holds for strangers.
inline constexpr PieceSize::Bounds upload_pieces{32 << 10, 8 << 10, 1 << 20, std::chrono::seconds{5}};

}  // namespace gleaner::transport

#include "shared/transport/piece_size.h"

#include "tests/catch.h"

namespace gleaner::transport {
namespace {
using namespace std::chrono_literals;

// Over a line of so many bytes a second, with 50 ms of round trip.
Duration over(double line, std::int64_t bytes) {
  return from_seconds(0.05 + static_cast<double>(bytes) / line);
}

TEST_CASE("A piece is what the line moves in about the time that is aimed at") {
  const double line = GENERATE(2e3, 8e3, 50e3, 1e6, 1e8);
  INFO(line);
  PieceSize pieces(upload_pieces);
  Duration longest{0};
  for (int i = 0; i < 12; ++i) {
    const Duration took = over(line, pieces.next());
    if (i > 0) longest = std::max(longest, took);
    pieces.moved(pieces.next(), took);
  }
  CHECK(longest <= 2 * upload_pieces.aim);
  const double aimed = line * to_seconds(upload_pieces.aim);
  if (aimed < static_cast<double>(upload_pieces.least))
    CHECK(pieces.next() == upload_pieces.least);
  else if (aimed > 2 * static_cast<double>(upload_pieces.most))
    CHECK(pieces.next() == upload_pieces.most);
  else
    CHECK(static_cast<double>(pieces.next()) >=
          std::min(0.9 * aimed, 0.9 * static_cast<double>(upload_pieces.most)));
}

TEST_CASE("A line that breaks gets smaller pieces, down to the least, and larger ones when it is well") {
  PieceSize pieces(download_pieces);
  CHECK(pieces.next() == download_pieces.first);
  for (int i = 0; i < 10; ++i) pieces.broken();
  CHECK(pieces.next() == download_pieces.least);
  for (int i = 0; i < 10; ++i) pieces.moved(pieces.next(), over(1e7, pieces.next()));
  CHECK(pieces.next() == download_pieces.most);
}

TEST_CASE("The rest of a file that is much smaller than a piece tells nothing of the line") {
  PieceSize pieces(upload_pieces);
  CHECK(pieces.expected(1000) == Duration{0});
  pieces.moved(pieces.next(), over(1e6, pieces.next()));
  const auto before = pieces.next();
  pieces.moved(100, over(1e6, 100));
  pieces.moved(before, 0s);
  CHECK(pieces.next() == before);
  CHECK(pieces.bytes_per_second() > 1e5);
  CHECK(pieces.expected(before) > Duration{0});
}

}  // namespace
}  // namespace gleaner::transport

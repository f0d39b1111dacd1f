// Between Scorer and its lanes, which are compiled for another processor: nothing here makes inline
// functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gleaner::dsearch {

struct LaneWork {
  const std::uint8_t* query;  // places in `rows`
  std::size_t query_length;
  const std::int8_t* const* rows;  // of the matrix, 32 scores each: those of the query's residues
  std::size_t row_count;           // at most 32
  const std::uint8_t* residues;    // 32 a column
  std::size_t columns;             // a multiple of 4
  std::int8_t open, extend;
  std::uint8_t* state;  // 64 bytes a residue of the query, aligned to 32
};

namespace avx2 {
// The highest value of each of the 32 lanes; 255 if it is 255 or more.
void score_lanes(const LaneWork& work, std::uint8_t* best);
}  // namespace avx2

}  // namespace gleaner::dsearch

// Scores of one query against many records, by the fastest way that gives the exact number: local alignments
// 32 records side by side in 8-bit lanes (Rognes 2011), where the processor has AVX2; what does not fit these
// lanes, other modes and other processors by parasail's kernels (Farrar 2007; Daily 2016). Scores are
// whole numbers, so that all ways give the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/dsearch/scheme.h"
#include "apps/kit/cpu_features.h"

namespace gleaner::dsearch {

// Records side by side, sorted by length. Immutable; thread-safe.
class RecordBlock {
 public:
  static constexpr std::size_t width = 32;
  // The records must outlive it. Without lanes all of them are single.
  RecordBlock(std::vector<std::string_view> records, bool with_lanes);

  struct Lanes {
    std::vector<std::uint32_t> records;  // at most `width`
    std::size_t columns;                 // a multiple of 4
    std::size_t first;                   // byte of residues(): `width` a column
  };
  [[nodiscard]] const std::vector<std::string_view>& records() const { return records_; }
  [[nodiscard]] const std::vector<Lanes>& lanes() const { return lanes_; }
  [[nodiscard]] const std::vector<std::uint32_t>& single() const { return single_; }  // too unlike the others
  [[nodiscard]] const std::uint8_t* residues() const { return residues_.data(); }

 private:
  std::vector<std::string_view> records_;
  std::vector<Lanes> lanes_;
  std::vector<std::uint32_t> single_;
  std::vector<std::uint8_t> residues_;
};

struct Ends {
  std::int32_t score = 0;
  std::uint32_t query = 0;   // the last residue that is aligned
  std::uint32_t record = 0;  // likewise: of all best ones the first in the record, then in the query
};

// Not thread-safe: it keeps profiles of its query.
class Scorer {
 public:
  // REQUIRES: the query is not empty, and it and the scheme outlive this.
  Scorer(Mode mode, const Scheme& scheme, std::string_view query, kit::CpuLevel level);
  ~Scorer();
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  // One score a record, in the block's order; of an empty record 0, or what leaving the query unaligned
  // costs. `going_on` is told which part is done and says whether to go on.
  void scores(const RecordBlock& block, std::vector<std::int32_t>& scores,
              const std::function<bool(double part)>& going_on);
  [[nodiscard]] std::int32_t score(std::string_view record);
  // Of a local alignment. REQUIRES: Mode::local, score > 0.
  [[nodiscard]] Ends ends(std::string_view record);

 private:
  struct Profiles;
  [[nodiscard]] Ends aligned(std::string_view record, bool beyond_8_bits);
  Mode mode_;
  const Scheme& scheme_;
  std::string_view query_;
  kit::CpuLevel level_;
  std::unique_ptr<Profiles> profiles_;
};

[[nodiscard]] bool has_lanes(kit::CpuLevel level);

}  // namespace gleaner::dsearch

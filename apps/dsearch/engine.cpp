#include "apps/dsearch/engine.h"

#include <parasail.h>
#include <parasail/cpuid.h>
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "apps/dsearch/lanes.h"
#include "shared/base/check.h"

namespace gleaner::dsearch {
namespace {

enum Width : std::size_t { bits8, bits16, bits32, widths };

// Scores up to here fit 16 bits whatever the way to them.
constexpr std::int64_t safe_in_16_bits = 30'000;
// A lane with less than a quarter of its columns used is slower than the striped kernel.
constexpr std::size_t lanes_worth = RecordBlock::width / 4;

struct Kernels {
  std::array<parasail_profile_t* (*)(const char*, int, const parasail_matrix_t*), widths> profile;
  // Farrar's way is the fastest for local alignments, but wrong where a gap's first residue costs no more
  // than the next: its correction of gaps along the query then stops too early. Daily's scan has no such
  // limit.
  std::array<parasail_pfunction_t*, widths> local_affine, local, global, semi_global;

  [[nodiscard]] const std::array<parasail_pfunction_t*, widths>& align(Mode mode,
                                                                       const Scheme& scheme) const {
    if (mode == Mode::local) return scheme.open() > scheme.extend() ? local_affine : local;
    return mode == Mode::global ? global : semi_global;
  }
};

#define GLEANER_WIDTHS(name) \
  { name##_8, name##_16, name##_32 }
#define GLEANER_KERNELS(profile, level)                                                                     \
  {                                                                                                         \
    GLEANER_WIDTHS(parasail_profile_create_##profile), GLEANER_WIDTHS(parasail_sw_striped_profile_##level), \
        GLEANER_WIDTHS(parasail_sw_scan_profile_##level), GLEANER_WIDTHS(parasail_nw_scan_profile_##level), \
        GLEANER_WIDTHS(parasail_sg_scan_profile_##level)                                                    \
  }

const Kernels& kernels_for(kit::CpuLevel level) {
#if defined(__x86_64__)
  static const Kernels sse2 GLEANER_KERNELS(sse_128, sse2_128);
  static const Kernels sse41 GLEANER_KERNELS(sse_128, sse41_128);
  static const Kernels avx2 GLEANER_KERNELS(avx_256, avx2_256);
  if (level != kit::CpuLevel::baseline) return avx2;
  return parasail_can_use_sse41() != 0 ? sse41 : sse2;
#else
  (void)level;
  static const Kernels neon GLEANER_KERNELS(neon_128, neon_128);
  return neon;
#endif
}

// parasail's plain loops for a processor whose kernels were left out when it was built, as Debian does on
// arm64.
parasail_function_t* plain_for(Mode mode) {
#if defined(__x86_64__)
  (void)mode;
  return nullptr;
#else
  if (parasail_can_use_neon() != 0) return nullptr;
  if (mode == Mode::local) return parasail_sw;
  return mode == Mode::global ? parasail_nw : parasail_sg;
#endif
}

struct alignas(32) StateOfResidue {
  std::uint8_t bytes[64];
};

}  // namespace

bool has_lanes(kit::CpuLevel level) {
  return level != kit::CpuLevel::baseline;
}

RecordBlock::RecordBlock(std::vector<std::string_view> records, bool with_lanes)
    : records_(std::move(records)) {
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (!records_[i].empty()) order.push_back(static_cast<std::uint32_t>(i));
  }
  if (!with_lanes) {
    single_ = std::move(order);
    return;
  }
  const auto length = [&](std::uint32_t record) { return records_[record].size(); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return length(a) > length(b); });
  for (auto next = order.begin(); next != order.end();) {
    const auto end = order.end() - next > static_cast<std::ptrdiff_t>(width) ? next + width : order.end();
    const std::size_t all =
        std::accumulate(next, end, std::size_t{0},
                        [&](std::size_t sum, std::uint32_t record) { return sum + length(record); });
    if (length(*next) * lanes_worth > all) {
      single_.push_back(*next++);
      continue;
    }
    lanes_.push_back({{next, end}, (length(*next) + 3) / 4 * 4, residues_.size()});
    const Lanes& lanes = lanes_.back();
    residues_.resize(residues_.size() + width * lanes.columns, padding_code);
    for (std::size_t lane = 0; lane < lanes.records.size(); ++lane) {
      const std::string_view record = records_[lanes.records[lane]];
      std::uint8_t* to = residues_.data() + lanes.first + lane;
      for (const char code : record) {
        *to = static_cast<std::uint8_t>(code);
        to += width;
      }
    }
    next = end;
  }
}

struct Scorer::Profiles {
  Profiles(Mode mode, const Scheme& scheme, std::string_view query_, kit::CpuLevel level)
      : kernels(kernels_for(level)),
        align(kernels.align(mode, scheme)),
        plain(plain_for(mode)),
        query(query_) {
    for (int a = 0; a < codes_max; ++a) {
      for (int b = 0; b < codes_max; ++b) scores.push_back(scheme.score(a, b));
    }
    std::iota(mapper.begin(), mapper.begin() + codes_max, 0);
    std::fill(mapper.begin() + codes_max, mapper.end(), padding_code);
    matrix.name = "gleaner";
    matrix.matrix = scores.data();
    matrix.mapper = mapper.data();
    matrix.size = codes_max;
    matrix.max = scheme.highest();
    // Padding is only ever in lanes.
    matrix.min = *std::min_element(scores.begin(), scores.end(), [](int a, int b) {
      return (a == padding_score ? 0 : a) < (b == padding_score ? 0 : b);
    });
    matrix.type = PARASAIL_MATRIX_TYPE_SQUARE;
    matrix.length = codes_max;
    matrix.alphabet = "";
    if (has_lanes(level)) {
      std::array<int, codes_max> place;
      place.fill(-1);
      for (const char code : query) {
        int& at = place[static_cast<unsigned char>(code)];
        if (at < 0) {
          at = static_cast<int>(rows.size());
          rows.push_back(scheme.row(code));
        }
        places.push_back(static_cast<std::uint8_t>(at));
      }
      state.resize(query.size());
    }
  }
  ~Profiles() {
    for (parasail_profile_t* profile : profiles) {
      if (profile) parasail_profile_free(profile);
    }
  }
  Profiles(const Profiles&) = delete;
  Profiles& operator=(const Profiles&) = delete;

  // Nothing if the width is too small.
  bool run(Width width, const Scheme& scheme, std::string_view record, Ends& ends) {
    parasail_result_t* result = nullptr;
    if (plain != nullptr) {
      result = plain(query.data(), static_cast<int>(query.size()), record.data(),
                     static_cast<int>(record.size()), scheme.open(), scheme.extend(), &matrix);
    } else {
      if (!profiles[width])
        profiles[width] = kernels.profile[width](query.data(), static_cast<int>(query.size()), &matrix);
      CHECK_TRUE(profiles[width] != nullptr);
      result = align[width](profiles[width], record.data(), static_cast<int>(record.size()), scheme.open(),
                            scheme.extend());
    }
    CHECK_TRUE(result != nullptr);
    const bool saturated = parasail_result_is_saturated(result) != 0;
    ends = {result->score, static_cast<std::uint32_t>(result->end_query),
            static_cast<std::uint32_t>(result->end_ref)};
    parasail_result_free(result);
    return !saturated;
  }

  const Kernels& kernels;
  const std::array<parasail_pfunction_t*, widths>& align;
  parasail_function_t* const plain;  // none: the above
  const std::string_view query;
  std::vector<int> scores;
  std::array<int, 256> mapper{};
  parasail_matrix_t matrix{};
  std::array<parasail_profile_t*, widths> profiles{};
  // For lanes.
  std::vector<const std::int8_t*> rows;
  std::vector<std::uint8_t> places;
  std::vector<StateOfResidue> state;
};

Scorer::Scorer(Mode mode, const Scheme& scheme, std::string_view query, kit::CpuLevel level)
    : mode_(mode), scheme_(scheme), query_(query), level_(level) {
  CHECK_TRUE(!query.empty() && query.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()));
  profiles_ = std::make_unique<Profiles>(mode, scheme, query_, level);
}

Scorer::~Scorer() = default;

Ends Scorer::aligned(std::string_view record, bool beyond_8_bits) {
  Ends ends;
  if (mode_ == Mode::local) {
    if (!beyond_8_bits && profiles_->run(bits8, scheme_, record, ends)) return ends;
    if (profiles_->run(bits16, scheme_, record, ends)) return ends;
  } else {
    // A way with gaps only bounds scores from below, one with the best matches only from above.
    const auto query = static_cast<std::int64_t>(query_.size());
    const auto length = static_cast<std::int64_t>(record.size());
    const std::int64_t lowest = 2 * scheme_.gap(1) + scheme_.gap(query) + scheme_.gap(length);
    const std::int64_t highest = scheme_.highest() * std::min(query, length);
    if (std::max(lowest, highest) < safe_in_16_bits && profiles_->run(bits16, scheme_, record, ends))
      return ends;
  }
  CHECK_TRUE(profiles_->run(bits32, scheme_, record, ends));
  return ends;
}

std::int32_t Scorer::score(std::string_view record) {
  if (record.empty())
    return mode_ == Mode::global ? -scheme_.gap(static_cast<std::int64_t>(query_.size())) : 0;
  return aligned(record, false).score;
}

Ends Scorer::ends(std::string_view record) {
  CHECK_TRUE(mode_ == Mode::local);
  return aligned(record, false);
}

void Scorer::scores(const RecordBlock& block, std::vector<std::int32_t>& scores,
                    const std::function<bool(double part)>& going_on) {
  const auto& records = block.records();
  scores.assign(records.size(), score({}));
  std::size_t done = 0;
  std::size_t all = 1;
  for (const std::string_view record : records) all += record.size();
  const auto go_on = [&](std::size_t more) {
    done += more;
    return going_on(static_cast<double>(done) / static_cast<double>(all));
  };
  const auto one = [&](std::uint32_t record) {
    scores[record] = aligned(records[record], false).score;
    return go_on(records[record].size());
  };
  for (const std::uint32_t record : block.single()) {
    if (!one(record)) return;
  }
  const bool in_lanes = mode_ == Mode::local && has_lanes(level_);
  for (const RecordBlock::Lanes& lanes : block.lanes()) {
    if (!in_lanes) {
      for (const std::uint32_t record : lanes.records) {
        if (!one(record)) return;
      }
      continue;
    }
    std::uint8_t best[RecordBlock::width] = {};
#if defined(__x86_64__)
    avx2::score_lanes(
        {profiles_->places.data(), query_.size(), profiles_->rows.data(), profiles_->rows.size(),
         block.residues() + lanes.first, lanes.columns, static_cast<std::int8_t>(scheme_.open()),
         static_cast<std::int8_t>(scheme_.extend()), profiles_->state.data()->bytes},
        best);
#endif
    std::size_t residues = 0;
    for (std::size_t lane = 0; lane < lanes.records.size(); ++lane) {
      const std::uint32_t record = lanes.records[lane];
      scores[record] = best[lane] == 255 ? aligned(records[record], true).score : best[lane];
      residues += records[record].size();
    }
    if (!go_on(residues)) return;
  }
}

}  // namespace gleaner::dsearch

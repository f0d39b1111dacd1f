#include "apps/passwords/targets.h"

#include <algorithm>
#include <bit>

namespace gleaner::passwords {
namespace {

// A bitmap of 64 bits a digest lets about one candidate in 64 through to the table. The smallest is a quarter
// of an L1 cache.
constexpr std::size_t bits_per_target = 64;
constexpr std::size_t bitmap_bits_min = 1 << 16;

}  // namespace

Targets::Targets(Algorithm algorithm, std::vector<std::string> digests) : digests_(std::move(digests)) {
  CHECK_TRUE(static_cast<std::int64_t>(digests_.size()) <= targets_max);
  std::sort(digests_.begin(), digests_.end());
  digests_.erase(std::unique(digests_.begin(), digests_.end()), digests_.end());
  const std::size_t bits = std::max(bitmap_bits_min, std::bit_ceil(digests_.size() * bits_per_target));
  bitmap_.resize(bits / 32);
  table_.resize(std::bit_ceil(2 * digests_.size() + 1));
  const auto table_mask = static_cast<std::uint32_t>(table_.size() - 1);
  for (const std::string& digest : digests_) {
    const std::uint32_t word = filter_word(algorithm, digest);
    bitmap_[(word & (bits - 1)) / 32] |= std::uint32_t{1} << (word % 32);
    std::uint32_t slot = word * table_multiplier & table_mask;
    while (table_[slot] != 0) slot = (slot + 1) & table_mask;
    table_[slot] = std::uint64_t{1} << 32 | word;
  }
}

Result<Targets> Targets::from_bytes(Algorithm algorithm, std::string_view bytes) {
  const std::size_t size = digest_bytes(algorithm);
  if (bytes.empty() || bytes.size() % size != 0 ||
      bytes.size() / size > static_cast<std::size_t>(targets_max)) {
    return Error{ErrorKind::invalid, "the input 'targets' does not hold " + std::string(name_of(algorithm)) +
                                         " digests of " + std::to_string(size) + " bytes"};
  }
  std::vector<std::string> digests;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    digests.emplace_back(bytes.substr(at, size));
    if (digests.size() > 1 && digests[digests.size() - 2] >= digests.back())
      return Error{ErrorKind::invalid, "the input 'targets' is not sorted"};
  }
  return Targets(algorithm, std::move(digests));
}

Bytes Targets::bytes() const {
  Bytes all;
  for (const std::string& digest : digests_) all += digest;
  return all;
}

std::optional<std::int64_t> Targets::find(std::string_view digest) const {
  const auto at = std::lower_bound(digests_.begin(), digests_.end(), digest);
  if (at == digests_.end() || *at != digest) return std::nullopt;
  return at - digests_.begin();
}

Filter Targets::filter() const {
  return {bitmap_.data(), static_cast<std::uint32_t>(bitmap_.size() * 32 - 1), table_.data(),
          static_cast<std::uint32_t>(table_.size() - 1)};
}

}  // namespace gleaner::passwords

#include "apps/passwords/search.h"

#include <algorithm>

#include "apps/kit/packing.h"
#include "shared/base/limits.h"

namespace gleaner::passwords {
namespace {

constexpr std::size_t hit_bytes = 20;
constexpr std::int64_t heads_max = 1 << 16;  // 256 KiB: half of an L2 cache
constexpr int head_length_max = 4;           // what word 0 holds
constexpr std::int64_t random_batch = 4096;

class SearchKernel final : public kit::Kernel {
 public:
  SearchKernel(Settings settings, Targets targets)
      : settings_(std::move(settings)),
        targets_(std::move(targets)),
        search_(settings_, targets_, kit::cpu_level()) {}
  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (stage != 0) return Error{ErrorKind::invalid, "passwords has one stage: 0"};
    if (item < 0 || item >= settings_.items()) return Error{ErrorKind::invalid, "there is no such block"};
    return encode(search_.run(settings_.item_positions(item), context));
  }

 private:
  Settings settings_;
  Targets targets_;
  Search search_;
};

}  // namespace

Bytes encode(const Found& found) {
  Bytes bytes;
  kit::pack(bytes, found.tested);
  for (const Hit& hit : found.hits) {
    kit::pack(bytes, hit.position);
    kit::pack(bytes, hit.candidate);
    kit::pack(bytes, hit.target);
  }
  return bytes;
}

Result<Found> decode(std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  Found found;
  found.tested = unpacker.get<std::int64_t>();
  while (unpacker.left() >= hit_bytes) {
    Hit hit;
    hit.position = unpacker.get<std::int64_t>();
    hit.candidate = unpacker.get<std::int64_t>();
    hit.target = unpacker.get<std::uint32_t>();
    found.hits.push_back(hit);
  }
  if (!unpacker.complete()) return Error{ErrorKind::invalid, "it is not a count and whole hits"};
  return found;
}

Search::Search(const Settings& settings, const Targets& targets, kit::CpuLevel level)
    : settings_(settings), targets_(targets), engine_(engine(level)) {}

void Search::confirm(std::int64_t position, Found& found) const {
  const std::int64_t candidate = settings_.candidate(position);
  const auto target = targets_.find(digest_of(settings_.algorithm, settings_.keyspace.plaintext(candidate)));
  if (target) found.hits.push_back({position, candidate, static_cast<std::uint32_t>(*target)});
}

const std::vector<std::uint32_t>& Search::heads_of(int length) {
  if (length == head_length_) return heads_;
  head_length_ = length;
  heads_.assign(1, 0);
  for (int at = 0; at < length; ++at) {
    std::vector<std::uint32_t> longer;
    for (const char character : settings_.keyspace.alphabet()) {
      // The block of that one character holds its place in word 0, and the padding after it.
      std::string text(static_cast<std::size_t>(at) + 1, '\0');
      text.back() = character;
      std::string zeros(text.size(), '\0');
      const std::uint32_t bits =
          block_of(settings_.algorithm, text)[0] ^ block_of(settings_.algorithm, zeros)[0];
      for (const std::uint32_t head : heads_) longer.push_back(head | bits);
    }
    heads_ = std::move(longer);
  }
  const std::size_t count = heads_.size();
  passed_.resize(std::max(passed_.size(), count));
  heads_.resize(count + batch_padding);
  return heads_;
}

// All of one length: the first characters count through word 0, the others make a block each round.
void Search::run_length(int length, Range positions, Range all, kit::ItemContext& context, Found& found) {
  const auto radix = static_cast<std::int64_t>(settings_.keyspace.alphabet().size());
  int head_length = 0;
  std::int64_t heads = 1;
  while (head_length < std::min(length, head_length_max) && heads * radix <= heads_max) {
    heads *= radix;
    ++head_length;
  }
  const auto& table = heads_of(head_length);
  const Range in_length = settings_.keyspace.of_length(length);
  for (std::int64_t at = positions.begin; at < positions.end;) {
    const std::int64_t first = (at - in_length.begin) % heads;
    const std::int64_t count = std::min(heads - first, positions.end - at);
    std::string text = settings_.keyspace.plaintext(at);
    std::fill_n(text.begin(), head_length, '\0');
    const Block block = block_of(settings_.algorithm, text);
    const std::size_t passed =
        engine_.heads(settings_.algorithm, block.data(), table.data() + first,
                      static_cast<std::size_t>(count), targets_.filter(), passed_.data());
    for (std::size_t i = 0; i < passed; ++i) confirm(at + passed_[i], found);
    at += count;
    found.tested += count;
    context.progress(static_cast<double>(at - all.begin) / static_cast<double>(all.size()));
    if (context.abandoned()) return;
  }
}

void Search::run_random(Range positions, Range all, kit::ItemContext& context, Found& found) {
  constexpr auto stride = static_cast<std::size_t>(random_batch);
  std::vector<std::uint32_t> words(16 * stride);
  passed_.resize(std::max(passed_.size(), stride));
  for (std::int64_t at = positions.begin; at < positions.end; at += random_batch) {
    const std::int64_t count = std::min(random_batch, positions.end - at);
    for (std::int64_t i = 0; i < count; ++i) {
      const Block block =
          block_of(settings_.algorithm, settings_.keyspace.plaintext(settings_.candidate(at + i)));
      for (std::size_t t = 0; t < 16; ++t) words[t * stride + static_cast<std::size_t>(i)] = block[t];
    }
    // A last batch is filled up with what the one before left there.
    const std::size_t passed =
        engine_.blocks(settings_.algorithm, words.data(), stride, stride, targets_.filter(), passed_.data());
    for (std::size_t i = 0; i < passed && passed_[i] < count; ++i) confirm(at + passed_[i], found);
    found.tested += count;
    context.progress(static_cast<double>(at + count - all.begin) / static_cast<double>(all.size()));
    if (context.abandoned()) return;
  }
}

Found Search::run(Range positions, kit::ItemContext& context) {
  Found found;
  if (settings_.mode == Mode::random) {
    run_random(positions, positions, context, found);
    return found;
  }
  for (int length = settings_.keyspace.shortest(); length <= settings_.keyspace.longest(); ++length) {
    const Range part = intersection(positions, settings_.keyspace.of_length(length));
    if (!part.empty()) run_length(length, part, positions, context, found);
    if (context.abandoned()) break;
  }
  return found;
}

Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem) {
  TRY_ASSIGN(Settings settings, read_settings(problem));
  TRY_ASSIGN(const Bytes bytes,
             problem.read_input("targets",
                                targets_max * static_cast<std::int64_t>(digest_bytes(settings.algorithm))));
  TRY_ASSIGN(Targets targets, Targets::from_bytes(settings.algorithm, bytes));
  return std::unique_ptr<kit::Kernel>(
      std::make_unique<SearchKernel>(std::move(settings), std::move(targets)));
}

}  // namespace gleaner::passwords

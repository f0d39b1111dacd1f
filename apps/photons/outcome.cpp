#include "apps/photons/outcome.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/kit/packing.h"
#include "apps/kit/portable_math.h"
#include "apps/photons/philox.h"
#include "shared/base/check.h"

namespace gleaner::photons {
namespace {

constexpr std::int64_t chunk_photons = 65536;  // whose exits are kept
constexpr std::int64_t sampled_photons = 64;
constexpr double path_max = 0x1p20;  // cm; a longer one counts as this, so that no sum overflows

std::int64_t rounded(double x) {
  return static_cast<std::int64_t>(std::floor(x + 0.5));
}

struct Variant {
  void (*walk)(const Work& work);
  void (*trace)(const TraceWork& work);
};

Variant variant(kit::CpuLevel level) {
#if defined(__x86_64__)
  if (level == kit::CpuLevel::avx512) return {avx512::walk, avx512::trace};
  if (level == kit::CpuLevel::avx2) return {avx2::walk, avx2::trace};
#endif
  CHECK_TRUE(level == kit::CpuLevel::baseline);
  return {baseline::walk, baseline::trace};
}

// One item on its way: photons by chunks, and those that were detected once more.
class ItemRun {
 public:
  ItemRun(const Settings& settings, std::int64_t item, kit::ItemContext& context, kit::CpuLevel level)
      : settings_(settings),
        layout_(settings),
        model_(make_model(settings)),
        range_(settings.item_range(item)),
        block_photons_(settings.block_photons(item)),
        context_(context),
        variant_(variant(level)),
        blocks_(static_cast<std::size_t>(item_blocks)),
        tallies_(static_cast<std::size_t>(layout_.size)) {}

  [[nodiscard]] Tallies run() {
    for (std::int64_t first = range_.begin; first < range_.end; first += chunk_photons) {
      walk(first, std::min(chunk_photons, range_.end - first));
      if (context_.abandoned()) return {};
      if (!exits_.empty()) trace();
      if (context_.abandoned()) return {};
      begun_ += chunk_photons;
    }
    std::int64_t* out = at(layout_.blocks);
    for (const BlockTally& block : blocks_) {
      for (const std::int64_t value :
           {block.reflected, block.transmitted, block.absorbed, block.lost, block.gained, block.events})
        *out++ = value;
    }
    return std::move(tallies_);
  }
  void walk(std::int64_t first, std::int64_t count) {
    exits_.clear();
    const Work work{&model_,
                    first,
                    count,
                    range_.begin,
                    block_photons_,
                    blocks_.data(),
                    at(layout_.squares),
                    at(layout_.layers),
                    at(layout_.reflected),
                    at(layout_.transmitted),
                    at(layout_.absorbed),
                    this,
                    detected,
                    wanted};
    variant_.walk(work);
  }
  [[nodiscard]] const BlockTally& block(std::int64_t index) const {
    return blocks_[static_cast<std::size_t>(index)];
  }

 private:
  [[nodiscard]] std::int64_t* at(std::int64_t place) { return tallies_.data() + place; }

  void trace() {
    const TraceWork work{&model_,
                         exits_.data(),
                         static_cast<std::int64_t>(exits_.size()),
                         settings_.visits ? at(layout_.visits) : nullptr,
                         this,
                         traced,
                         still_wanted};
    variant_.trace(work);
  }
  static void detected(void* self, const Exit& exit) { static_cast<ItemRun*>(self)->exits_.push_back(exit); }
  static void traced(void* self, std::int64_t index, const double* paths) {
    static_cast<ItemRun*>(self)->count(static_cast<ItemRun*>(self)->exits_[static_cast<std::size_t>(index)],
                                       paths);
  }
  static bool wanted(void* pointer, std::int64_t begun) {
    auto& self = *static_cast<ItemRun*>(pointer);
    self.context_.progress(static_cast<double>(self.begun_ + begun) /
                           static_cast<double>(self.range_.size()));
    return !self.context_.abandoned();
  }
  static bool still_wanted(void* pointer, std::int64_t /*begun*/) {
    auto& self = *static_cast<ItemRun*>(pointer);
    self.context_.progress(static_cast<double>(self.begun_) / static_cast<double>(self.range_.size()));
    return !self.context_.abandoned();
  }
  void count(const Exit& exit, const double* paths) {
    const std::int64_t units = rounded(exit.weight / weight_unit);
    double whole = 0;
    for (int i = 0; i < model_.layers; ++i) {
      whole += paths[i];
      at(layout_.paths)[i] += rounded(exit.weight * std::min(paths[i], path_max) / path_unit);
    }
    at(layout_.detector)[0] += 1;
    at(layout_.detector)[1] += units;
    at(layout_.detector)[2] += rounded(exit.weight * exit.weight / weight_unit);
    const double bin = std::min(whole / settings_.path_step, static_cast<double>(settings_.path_bins));
    at(layout_.histogram)[static_cast<std::int64_t>(bin)] += units;
  }

  const Settings& settings_;
  const Layout layout_;
  const Model model_;
  const Range range_;
  const std::int64_t block_photons_;
  kit::ItemContext& context_;
  const Variant variant_;
  std::vector<BlockTally> blocks_;
  Tallies tallies_;
  std::vector<Exit> exits_;
  std::int64_t begun_ = 0;
};

class PhotonKernel final : public kit::Kernel {
 public:
  explicit PhotonKernel(Settings settings) : settings_(std::move(settings)) {}
  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (stage != 0) return Error{ErrorKind::invalid, "photons has one stage: 0"};
    if (item < 0 || item >= settings_.items()) return Error{ErrorKind::invalid, "there are no such photons"};
    return encode(compute_item(settings_, item, context));
  }

 private:
  Settings settings_;
};

}  // namespace

void launch(const Model& model, std::int64_t photon, double* x, double* y) {
  if (model.source == Source::pencil) return;
  const PhiloxBlock random = philox(
      {{0, 0, static_cast<std::uint32_t>(photon), static_cast<std::uint32_t>(photon >> 32)}}, model.key);
  const double u = (random.word[0] + 0.5) * 0x1p-32;
  const double angle = (random.word[1] + 0.5) * 0x1p-32 * 0x1.921fb54442d18p+2;
  // Gaussian: the intensity falls to 1/e^2 at the radius.
  const double square = model.source == Source::disc ? u : -0.5 * kit::portable_log(u);
  const double radius = model.source_radius * std::sqrt(square);
  *x = radius * kit::portable_cos(angle);
  *y = radius * kit::portable_sin(angle);
}

Tallies compute_item(const Settings& settings, std::int64_t item, kit::ItemContext& context,
                     kit::CpuLevel level) {
  return ItemRun(settings, item, context, level).run();
}

BlockTally compute_block(const Settings& settings, std::int64_t item, std::int64_t block,
                         kit::CpuLevel level) {
  kit::ItemContext quiet;
  ItemRun run(settings, item, quiet, level);
  const Range range = settings.item_range(item);
  const std::int64_t photons = settings.block_photons(item);
  const std::int64_t first = range.begin + block * photons;
  if (first < range.end) run.walk(first, std::min(photons, range.end - first));
  return run.block(block);
}

BlockTally block_of(const Tallies& tallies, std::int64_t block) {
  const std::int64_t* at = tallies.data() + 6 * block;  // Layout::blocks is 0
  return {at[0], at[1], at[2], at[3], at[4], at[5]};
}

Bytes encode(const Tallies& tallies) {
  Bytes bytes;
  bytes.reserve(8 * tallies.size());
  for (const std::int64_t value : tallies) kit::pack(bytes, value);
  return bytes;
}

Result<Tallies> decode(std::string_view bytes, std::int64_t size) {
  if (bytes.size() != 8 * static_cast<std::size_t>(size))
    return Error{ErrorKind::invalid,
                 "it has " + std::to_string(bytes.size()) + " bytes, not " + std::to_string(8 * size)};
  Tallies tallies(static_cast<std::size_t>(size));
  kit::Unpacker unpacker(bytes);
  for (std::int64_t& value : tallies) value = unpacker.get<std::int64_t>();
  return tallies;
}

Status check_sums(const Settings& settings, std::int64_t item, const Tallies& tallies) {
  const auto invalid = [](const std::string& why) { return Error{ErrorKind::invalid, why}; };
  const Layout layout(settings);
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    const bool gain = i < static_cast<std::size_t>(6 * item_blocks) && i % 6 == 4;
    constexpr std::int64_t most = std::int64_t{1} << 62;
    if (tallies[i] >= most || tallies[i] < (gain ? -most : 0)) return invalid("a tally is out of bounds");
  }
  const Range range = settings.item_range(item);
  const std::int64_t block_size = settings.block_photons(item);
  const auto sent = rounded((1 - make_model(settings).specular) / weight_unit);
  // In floating point an overflow of forged numbers does no harm; sums of true ones are compared exactly.
  std::uint64_t reflected = 0, transmitted = 0, absorbed = 0;
  for (std::int64_t b = 0; b < item_blocks; ++b) {
    const BlockTally block = block_of(tallies, b);
    const std::int64_t photons = std::clamp<std::int64_t>(range.size() - b * block_size, 0, block_size);
    const double in =
        static_cast<double>(photons) * static_cast<double>(sent) + static_cast<double>(block.gained);
    const double out = static_cast<double>(block.reflected) + static_cast<double>(block.transmitted) +
                       static_cast<double>(block.absorbed) + static_cast<double>(block.lost);
    // Each event and each end rounds once; the doubles here have 53 bits.
    const double slack = static_cast<double>(block.events) + 4 * static_cast<double>(photons) + in * 0x1p-48;
    if (!(std::abs(in - out) <= slack)) return invalid("weight is missing or too much in a block of photons");
    if (block.events < photons) return invalid("a block has too few events");
    reflected += static_cast<std::uint64_t>(block.reflected);
    transmitted += static_cast<std::uint64_t>(block.transmitted);
    absorbed += static_cast<std::uint64_t>(block.absorbed);
  }
  const auto sum = [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t all = 0;
    for (std::int64_t i = begin; i < end; ++i)
      all += static_cast<std::uint64_t>(tallies[static_cast<std::size_t>(i)]);
    return all;
  };
  if (sum(layout.reflected, layout.transmitted) != reflected ||
      sum(layout.transmitted, layout.detector) != transmitted ||
      sum(layout.absorbed, layout.layers) != absorbed || sum(layout.layers, layout.reflected) != absorbed)
    return invalid("a grid does not add up to its blocks");
  if (sum(layout.histogram, layout.visits) != sum(layout.detector + 1, layout.detector + 2) ||
      sum(layout.detector + 1, layout.detector + 2) > reflected)
    return invalid("the detector's tallies do not add up");
  return {};
}

double mean_events(const Settings& settings) {
  Settings sample = settings;
  sample.item_photons = sample.photons = sampled_photons;
  sample.detector_radius = 0;
  sample.visits = false;
  kit::ItemContext quiet;
  const Tallies tallies = compute_item(sample, 0, quiet);
  double events = 0;
  for (std::int64_t block = 0; block < item_blocks; ++block)
    events += static_cast<double>(block_of(tallies, block).events);
  return events / static_cast<double>(sampled_photons);
}

Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem) {
  TRY_ASSIGN(Settings settings, read_settings(problem));
  return std::unique_ptr<kit::Kernel>(std::make_unique<PhotonKernel>(std::move(settings)));
}

}  // namespace gleaner::photons

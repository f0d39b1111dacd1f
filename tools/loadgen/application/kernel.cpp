#include "tools/loadgen/application/kernel.h"

#include "shared/base/random.h"

namespace gleaner::load {
namespace {

constexpr int words_of_item = 8;

class LoadKernel final : public kit::Kernel {
 public:
  Result<Bytes> compute(int /*stage*/, std::int64_t item, kit::ItemContext& /*context*/) override {
    Random random(static_cast<std::uint64_t>(item));
    Bytes bytes;
    for (int i = 0; i < words_of_item; ++i)
      for (std::uint64_t word = random.next(), byte = 0; byte < sizeof word; ++byte, word >>= 8)
        bytes += static_cast<char>(word);
    return bytes;
  }
};

}  // namespace

Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& /*problem*/) {
  return std::unique_ptr<kit::Kernel>(std::make_unique<LoadKernel>());
}

}  // namespace gleaner::load

// The kernel: runs on volunteers' machines and computes one item after the other.
#include <algorithm>

#include "apps/kit/kernel.h"

#include "src/primes.h"

using namespace gleaner;

namespace {

class Primes final : public kit::Kernel {
 public:
  explicit Primes(const Settings& settings) : settings_(settings) {}

  // The bytes of an item depend on the problem and on its number, on nothing else.
  Result<Bytes> compute(int /*stage*/, std::int64_t item, kit::ItemContext& context) override {
    const std::int64_t begin = item * settings_.block;
    const std::int64_t end = std::min(begin + settings_.block, settings_.limit);
    std::int64_t count = 0;
    for (std::int64_t number = begin; number < end; ++number) {
      if (number % 1024 == 0)
        context.progress(static_cast<double>(number - begin) / static_cast<double>(end - begin));
      if (context.abandoned()) return Bytes{};  // nobody wants it any more
      count += is_prime(number);
    }
    return std::to_string(count);
  }

 private:
  Settings settings_;
};

}  // namespace

int main() {
  return kit::kernel_main([](const kit::Problem& problem) -> Result<std::unique_ptr<kit::Kernel>> {
    TRY_ASSIGN(const Settings settings, read_settings(problem));
    return std::unique_ptr<kit::Kernel>(std::make_unique<Primes>(settings));
  });
}

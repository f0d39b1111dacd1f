// A kernel is a class with one function: the bytes of one item. kernel_main() speaks apps/CONTRACT.md around
// it:
//
//   class Squares final : public kit::Kernel {
//     Result<Bytes> compute(int, std::int64_t item, kit::ItemContext&) override { return std::to_string(item
//     * item); }
//   };
//   int main() {
//     return kit::kernel_main([](const kit::Problem&) -> Result<std::unique_ptr<kit::Kernel>> {
//       return std::make_unique<Squares>();
//     });
//   }
//
// The bytes of an item must depend on the problem, the stage and the item alone, on every machine: see
// apps/kit/portable_math.h for functions whose results do. All calls come from one thread; a kernel may start
// threads of its own (context.threads()) but uses the context only from the thread it was called on.
// An exception that leaves compute() fails the unit with its text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/kit/problem.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::kit {

// What a running item may ask and tell. The class itself is a context that does nothing, for tests.
class ItemContext {
 public:
  virtual ~ItemContext() = default;
  // Part of this item that is done, 0 to 1. Cheap (one look at the clock): call it every few microseconds or
  // more. Commands are looked at here, so that long items can be ended and saved; at most two lines a second
  // leave.
  virtual void progress(double /*fraction*/) {}
  // True once this item is not wanted any more: compute() may return at once, with anything.
  [[nodiscard]] virtual bool abandoned() const { return false; }
  // Cores the kernel may use.
  [[nodiscard]] virtual int threads() const { return 1; }
  virtual void log(std::string_view /*text*/) {}
  // The state that this item saved before it was interrupted; nothing if it starts from its beginning.
  [[nodiscard]] virtual std::optional<Bytes> restored() { return std::nullopt; }
  // From now until compute() returns, progress() may call `save` for the item's state.
  virtual void offer_checkpoint(std::function<Bytes()> /*save*/) {}
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual Result<Bytes> compute(int stage, std::int64_t item, ItemContext& context) = 0;
};

// Reads the problem; its error's text is shown to who added the problem.
using KernelFactory = std::function<Result<std::unique_ptr<Kernel>>(const Problem&)>;

enum class Checkpoints { none, offered };

// Serves standard input until `quit` or its end. Returns the exit status: 0, or 1 if the other side broke the
// contract or went away (with a line on standard error).
int kernel_main(const KernelFactory& factory, Checkpoints checkpoints = Checkpoints::none);
// The same over any two descriptors, for tests. `threads`: what ItemContext::threads() says.
int serve_kernel(const KernelFactory& factory, Checkpoints checkpoints, int input, int output, int threads);

}  // namespace gleaner::kit

// What a kernel writes: fed in two pieces with a trim and a checkpoint request between them (the first bytes
// say where and which). Whatever it says, items come in order and within the unit, and memory stays bounded.
#include <algorithm>

#include "shared/contract/kernel_grammar.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::contract;

namespace {

constexpr std::int64_t item_bytes_max = 64;
constexpr Range range{2, 6};

class Owner {
 public:
  explicit Owner(std::int64_t trimmed_end) : trimmed_end_(trimmed_end) {
    grammar_.problem_sent();
    grammar_.unit_sent(range);
  }
  void feed(std::string_view bytes) {
    grammar_.feed(bytes);
    while (const auto event = grammar_.next_event()) take(*event);
    CHECK_TRUE(grammar_.queued_bytes() == 0);
    CHECK_TRUE(!grammar_.occupation().empty());
    if (grammar_.offence()) CHECK_TRUE(!grammar_.offence()->text.empty());
  }
  void interrupt() {
    if (grammar_.end_sent(trimmed_end_)) trimmed_ = true;
    grammar_.checkpoint_sent();
  }

 private:
  void take(const KernelEvent& event) {
    CHECK_TRUE(event.text.size() <= 4096);
    switch (event.kind) {
      case KernelEvent::Kind::item:
        CHECK_TRUE(event.item == next_ && next_ < range.end && !done_);
        CHECK_TRUE(event.data.size() <= static_cast<std::size_t>(item_bytes_max));
        ++next_;
        break;
      case KernelEvent::Kind::progress:
        CHECK_TRUE(range.contains(event.item) && event.fraction >= 0 && event.fraction <= 1);
        break;
      case KernelEvent::Kind::done:
        CHECK_TRUE(event.item == next_ && !done_ && grammar_.idle());
        CHECK_TRUE(next_ >= (trimmed_ ? std::min(trimmed_end_, range.end) : range.end));
        done_ = true;
        break;
      case KernelEvent::Kind::checkpointed:
        CHECK_TRUE(event.item >= -1 && event.item < range.end);
        break;
      case KernelEvent::Kind::log:
        break;
      case KernelEvent::Kind::failed:
        CHECK_TRUE(false);
        break;
    }
  }

  KernelGrammar grammar_{item_bytes_max};
  const std::int64_t trimmed_end_;
  std::int64_t next_ = range.begin;
  bool trimmed_ = false;
  bool done_ = false;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view output = fuzz::text_of(data + 2, size - 2);
  const std::size_t middle = std::min<std::size_t>(data[0], output.size());
  Owner owner(data[1] % 8);
  owner.feed(output.substr(0, middle));
  owner.interrupt();
  owner.feed(output.substr(middle));
  return 0;
}

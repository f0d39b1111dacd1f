// The manager: runs on the server and knows what the items of a problem mean.
#include "apps/kit/manager.h"

#include <charconv>

#include "src/primes.h"

using namespace gleaner;

namespace {

class PrimesManager final : public kit::Manager {
 public:
  Status check(const kit::Problem& problem) override {
    TRY_ASSIGN(settings_, read_settings(problem));
    return {};
  }

  Result<std::optional<kit::Stage>> plan(int stage) override {
    if (stage > 0) return std::optional<kit::Stage>{};
    return std::optional(kit::Stage{settings_.items(), "blocks", {}, {}});
  }

  // Is every item plausible? Results come from strangers.
  Result<kit::Validation> validate(int stage, kit::SegmentReader& segment) override {
    return kit::check_each(segment, stage == 0 ? settings_.items() : 0, "block",
                           [&](std::int64_t /*item*/, std::string_view bytes) -> Status {
                             TRY(count_of(bytes));
                             return {};
                           });
  }

  // All items are in: the result is their sum.
  Status combine(int /*stage*/, kit::ItemSource& items, kit::Output& output) override {
    TRY(items.require_all(settings_.items()));
    return write_sum(items, output);
  }

  // What is in hand so far, with gaps.
  Status preview(int /*stage*/, kit::ItemSource& items, kit::Output& output) override {
    TRY(items.require_within(settings_.items()));
    return write_sum(items, output);
  }

 private:
  Result<std::int64_t> count_of(std::string_view bytes) const {
    std::int64_t count = 0;
    const auto read = std::from_chars(bytes.data(), bytes.data() + bytes.size(), count);
    const bool whole = read.ec == std::errc() && read.ptr == bytes.data() + bytes.size();
    if (!whole || count < 0 || count > settings_.block)
      return Error{ErrorKind::invalid, "not a count of primes from 0 to " + std::to_string(settings_.block)};
    return count;
  }

  Status write_sum(kit::ItemSource& items, kit::Output& output) const {
    std::int64_t sum = 0;
    for (;;) {
      TRY_ASSIGN(const auto item, items.next());
      if (!item) break;
      TRY_ASSIGN(const std::int64_t count, count_of(item->bytes));
      sum += count;
    }
    TRY(kit::write_file(output.directory() / "primes.txt", std::to_string(sum) + "\n"));
    output.result("primes.txt", "text/plain");
    return {};
  }

  Settings settings_;
};

}  // namespace

int main() {
  PrimesManager manager;
  return kit::manager_main(manager);
}

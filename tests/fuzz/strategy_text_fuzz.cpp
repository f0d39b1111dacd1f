// The text forms that administrators' requests bring: sizing and mapping strategies, validation policies. The
// first byte says which. What is understood has a text of its own, which means the same.
#include "server/policy/mapping/mapping.h"
#include "server/policy/sizing/sizing.h"
#include "server/policy/trust/validation.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

template <typename Make>
void check(std::string_view text, const Make& make) {
  const auto strategy = make(text);
  if (!strategy.ok()) {
    CHECK_TRUE(strategy.error().kind == ErrorKind::invalid && !strategy.error().message.empty());
    return;
  }
  const std::string again = (*strategy)->text();
  const auto back = make(again);
  CHECK_TRUE(back.ok() && (*back)->text() == again);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      check(text, policy::make_sizing);
      break;
    case 1:
      check(text, policy::make_mapping);
      break;
    default: {
      const auto validation = policy::parse_validation(text);
      if (!validation.ok()) break;
      CHECK_TRUE(validation->quorum >= 1 && validation->quorum <= policy::quorum_max);
      CHECK_TRUE(validation->spot >= 0 && validation->spot <= 1);
      const auto again = policy::parse_validation(policy::text_of(*validation));
      CHECK_TRUE(again.ok() && again->kind == validation->kind && again->quorum == validation->quorum);
    }
  }
  return 0;
}

#include "client/policy/core_choice.h"

#include "tests/catch.h"

namespace gleaner::client_policy::core_choice_test {
namespace {

using Numbers = std::vector<int>;

TEST_CASE("One thread of each physical core, whatever the order") {
  const std::vector<Processor> all = {{3, 1}, {0, 0}, {2, 0}, {1, 1}};
  CHECK(choose(CoreChoice::physical, all).numbers == Numbers{0, 1});
  CHECK(choose(CoreChoice::physical, all).words ==
        "kernels run on 2 of 4 processors: one for each physical core");
  CHECK(choose(CoreChoice::physical, {{0}, {1}}).numbers == Numbers{0, 1});  // nothing is known
  CHECK(choose(CoreChoice::any, all).numbers.empty());
  CHECK(choose(CoreChoice::any, all).words.empty());
}

TEST_CASE("Fast and frugal cores are told apart, and favoured ones of one kind are not") {
  const std::vector<Processor> hybrid = {{0, 0, 1024}, {1, 1, 1000}, {2, 2, 450}, {3, 3, 460}};
  CHECK(choose(CoreChoice::performance, hybrid).numbers == Numbers{0, 1});
  CHECK(choose(CoreChoice::efficiency, hybrid).numbers == Numbers{2, 3});
  const std::vector<Processor> alike = {{0, 0, 1024}, {1, 1, 900}};
  CHECK(choose(CoreChoice::efficiency, alike).numbers.empty());
  CHECK(choose(CoreChoice::efficiency, alike).words ==
        "kernels run on all processors: this computer shows one kind of core only");
  CHECK(choose(CoreChoice::performance, {{0}, {1, 1, 100}}).numbers.empty());  // one of them is not known
  CHECK(choose(CoreChoice::performance, {}).numbers.empty());
}

}  // namespace
}  // namespace gleaner::client_policy::core_choice_test

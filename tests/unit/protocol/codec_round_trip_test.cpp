#include "tests/catch.h"
#include "tests/unit/protocol/message_archives.h"

using namespace gleaner;
using namespace gleaner::protocol;

namespace {

constexpr std::uint64_t round_trip_seed = 20'261'120;

}  // namespace

TEMPLATE_LIST_TEST_CASE("every message survives the wire", "", codec::AllMessages) {
  INFO("seed " << round_trip_seed);
  Random random(round_trip_seed);
  for (int round = 0; round < 60; ++round) {
    const auto message = codec::random_message<TestType>(random);
    const std::string text = encode(message);
    INFO(text);
    const auto back = decode<TestType>(text);
    if (!back.ok()) FAIL(back.error().message);
    REQUIRE(codec::same(*back, message));
    REQUIRE(encode(*back) == text);
  }
}

TEMPLATE_LIST_TEST_CASE("every member of a message is in its field list", "", codec::AllMessages) {
  codec::FieldCounter counter;
  const TestType message;
  visit(counter, message);
  CHECK(counter.count() == boost::pfr::tuple_size_v<TestType>);
}

TEMPLATE_TEST_CASE("lists survive the wire", "", ApplicationInfo, ProblemInfo, HostInfo, CodeInfo, TokenInfo,
                   Ban, DecisionInfo, StrategyInfo, RelayInfo) {
  INFO("seed " << round_trip_seed);
  Random random(round_trip_seed);
  for (int round = 0; round < 20; ++round) {
    std::vector<TestType> items;
    for (int i = 0; i < round; ++i) items.push_back(codec::random_message<TestType>(random));
    const auto back = decode<std::vector<TestType>>(encode(items));
    if (!back.ok()) FAIL(back.error().message);
    CHECK(codec::same(*back, items));
  }
}

TEST_CASE("enumerations have distinct names, numbered without gaps") {
  const auto check = [](auto first, int count) {
    using Enumeration = decltype(first);
    std::vector<std::string> names;
    for (int i = 1; i <= count; ++i) names.emplace_back(name_of(static_cast<Enumeration>(i)));
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
    CHECK(std::find(names.begin(), names.end(), "unknown") == names.end());
    CHECK(std::string(name_of(static_cast<Enumeration>(count + 1))) == "unknown");
  };
  check(StatementType{}, codec::count_of<StatementType>);
  check(CommitStatus{}, codec::count_of<CommitStatus>);
  check(RunState{}, codec::count_of<RunState>);
  check(UnitAction{}, codec::count_of<UnitAction>);
  check(FailureKind{}, codec::count_of<FailureKind>);
  check(ProblemState{}, codec::count_of<ProblemState>);
  check(HostState{}, codec::count_of<HostState>);
}

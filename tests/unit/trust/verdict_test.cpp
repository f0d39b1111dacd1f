// Who is right where results differ.
#include "server/policy/trust/verdict.h"

#include <algorithm>

#include "shared/base/random.h"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

struct Given {
  int host = 0;
  int value = 0;
  double reliability = 0.9;
  bool own = false;
  int party = 0;
  bool known = false;
};

Verdict judged(const std::vector<Given>& given, const VerdictTerms& terms = {}) {
  std::vector<Opinion> opinions;
  for (const Given& one : given)
    opinions.push_back({HostId{one.host}, SegmentId{1}, one.reliability, one.own, one.party, one.known});
  return judge(
      opinions, [&](std::size_t i, std::size_t j) { return given[i].value == given[j].value; }, terms);
}

}  // namespace

TEST_CASE("among strangers the larger class of at least two is right") {
  CHECK(judged({{1, 7}, {2, 7}}).kind == VerdictKind::agree);
  CHECK(judged({{1, 7}, {2, 8}}).kind == VerdictKind::need_another);
  const Verdict third = judged({{1, 7}, {2, 8}, {3, 8}});
  CHECK(third.kind == VerdictKind::decided);
  CHECK(third.right == std::vector<std::size_t>{1, 2});
  CHECK(third.wrong == std::vector<std::size_t>{0});
  CHECK(judged({{1, 7}, {2, 7}, {3, 8}, {4, 8}}).kind == VerdictKind::need_another);
  std::vector<Given> all_different;
  for (int i = 1; i < VerdictTerms{}.opinions_max; ++i) all_different.push_back({i, i});
  CHECK(judged(all_different).kind == VerdictKind::need_another);
  all_different.push_back({VerdictTerms{}.opinions_max, 0});
  CHECK(judged(all_different).kind == VerdictKind::undecided);
  CHECK(judged({{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 4}}).kind == VerdictKind::decided);
}

TEST_CASE("no more opinions are asked for than there are hosts, five at least and twelve at most") {
  CHECK(opinions_max(0, 1) == 5);
  CHECK(opinions_max(7, 1) == 7);
  CHECK(opinions_max(7, 3) == 9);
  CHECK(opinions_max(1000, 1) == 12);
}

TEST_CASE("one host repeating itself is one opinion") {
  CHECK(judged({{1, 7}, {1, 7}}).kind == VerdictKind::agree);  // there is nothing to compare
  CHECK(judged({{1, 7}, {1, 7}, {2, 8}}).kind == VerdictKind::need_another);
}

TEST_CASE("a known host outweighs strangers that contradict it one by one, not all of them") {
  CHECK(judged({{1, 7, 0.999}, {2, 8}}).kind == VerdictKind::need_another);  // a sleeper looks like this
  CHECK(judged({{1, 7, 0.999}, {2, 8}, {3, 8}}).kind == VerdictKind::need_another);
  const Verdict three = judged({{1, 7, 0.999}, {2, 8}, {3, 8}, {4, 8}});
  CHECK(three.kind == VerdictKind::decided);
  CHECK(three.wrong == std::vector<std::size_t>{0});
  const Verdict backed = judged({{1, 7, 0.999}, {2, 8}, {3, 8}, {4, 7}});
  CHECK(backed.kind == VerdictKind::decided);
  CHECK(backed.right == std::vector<std::size_t>{0, 3});
}

TEST_CASE("one of the project's own decides alone") {
  const Verdict verdict = judged({{1, 7}, {2, 8, 0.9999, true}});
  CHECK(verdict.kind == VerdictKind::decided);
  CHECK(verdict.wrong == std::vector<std::size_t>{0});
}

TEST_CASE("a quorum wants different parties") {
  const VerdictTerms three{.agree_min = 3, .opinions_max = 7};
  CHECK(judged({{1, 7}}, three).kind == VerdictKind::need_another);
  CHECK(judged({{1, 7}, {2, 7}}, three).kind == VerdictKind::need_another);
  CHECK(judged({{1, 7}, {2, 7}, {3, 7}}, three).kind == VerdictKind::agree);
  // Two hosts behind one address are one party.
  CHECK(judged({{1, 7, 0.9, false, 5}, {2, 7, 0.9, false, 5}, {3, 7}}, three).kind ==
        VerdictKind::need_another);
  CHECK(judged({{1, 7, 0.9, false, 5}, {2, 7, 0.9, false, 5}, {3, 7}, {4, 7}}, three).kind ==
        VerdictKind::agree);
  CHECK(judged({{1, 7}, {2, 7}, {3, 8}, {4, 7}}, three).kind == VerdictKind::decided);
}

TEST_CASE("independent liars are never believed: the right class has at least two where one is chosen") {
  Random random(20'261);
  int decided = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<Given> given;
    Verdict verdict;
    do {
      const bool lies = random.chance(0.3);
      const int number = static_cast<int>(given.size());
      given.push_back({number, lies ? 100 + number : 0, 0.85 + 0.149 * random.uniform()});
      verdict = judged(given, {.agree_min = 2, .opinions_max = 9});
    } while (verdict.kind == VerdictKind::need_another);
    if (verdict.kind == VerdictKind::undecided) continue;
    ++decided;
    for (const std::size_t right : verdict.right) CHECK(given[right].value == 0);
    CHECK(verdict.right.size() + verdict.wrong.size() == given.size());
  }
  CHECK(decided > 19'900);
}

TEST_CASE("newcomers of one party are one, under every policy") {
  // Two of one address, and an honest host.
  CHECK(judged({{1, 7, 0.9, false, 1}, {2, 8, 0.9, false, 2}, {3, 8, 0.9, false, 2}}).kind ==
        VerdictKind::need_another);
  const Verdict third = judged({{1, 7, 0.9, false, 1}, {2, 8, 0.9, false, 2}, {3, 8, 0.9, false, 2}, {4, 7}});
  CHECK(third.kind == VerdictKind::decided);
  CHECK(third.right == std::vector<std::size_t>{0, 3});
  CHECK(third.wrong == std::vector<std::size_t>{1, 2});
  CHECK(third.independent);
  // What they agree on among themselves, nobody has verified.
  const Verdict among_them = judged({{2, 8, 0.9, false, 2}, {3, 8, 0.9, false, 2}});
  CHECK(among_them.kind == VerdictKind::agree);
  CHECK(!among_them.independent);
  CHECK(judged({{2, 8, 0.9, false, 2}, {3, 8}}).independent);
  // Known hosts of a house count each, and newcomers there add nothing to them.
  CHECK(judged({{1, 8, 0.97, false, 2, true}, {2, 8, 0.97, false, 2, true}}).independent);
  CHECK(!judged({{1, 8, 0.97, false, 2, true}, {3, 8, 0.9, false, 2}}).independent);
  CHECK(judged({{1, 8, 0.97, false, 2, true}, {3, 8, 0.9, false, 2}, {4, 7}}).kind ==
        VerdictKind::need_another);
}

TEST_CASE("however many newcomers of a party say the same: it is as if one of them did") {
  Random random(20'263);
  for (int round = 0; round < 5'000; ++round) {
    CAPTURE(round);
    const int quorum = static_cast<int>(random.between(1, 3));
    const VerdictTerms terms{.agree_min = quorum, .opinions_max = 1'000};
    std::vector<Given> given;
    for (int i = 0, count = static_cast<int>(random.between(1, 6)); i < count; ++i)
      given.push_back({1 + i, static_cast<int>(random.between(7, 9)), 0.5 + 0.499 * random.uniform(), false,
                       1 + i, quorum == 1 && random.chance(0.4)});
    const Verdict before = judged(given, terms);
    // Friends of one of them, no better known, with its answer.
    const Given& friendly = given[static_cast<std::size_t>(random.between(0, std::ssize(given) - 1))];
    std::vector<Given> crowd = given;
    for (int i = 0, count = static_cast<int>(random.between(1, 20)); i < count; ++i)
      crowd.push_back({100 + i, friendly.value, 0.5 * friendly.reliability, false, friendly.party});
    const Verdict after = judged(crowd, terms);
    CHECK(after.kind == before.kind);
    CHECK(after.independent == before.independent);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto has = [i](const std::vector<std::size_t>& list) { return std::ranges::count(list, i) > 0; };
      CHECK(has(after.right) == has(before.right));
      CHECK(has(after.wrong) == has(before.wrong));
    }
  }
}

TEST_CASE("newcomers of one party alone never decide against anybody") {
  Random random(20'264);
  for (int round = 0; round < 5'000; ++round) {
    std::vector<Given> given{{1, 7, 0.5 + 0.499 * random.uniform(), false, 1, random.chance(0.5)}};
    for (int i = 0, count = static_cast<int>(random.between(1, 30)); i < count; ++i)
      given.push_back({2 + i, 8, 0.5 + 0.499 * random.uniform(), false, 2});
    CHECK(judged(given, {.opinions_max = 1'000}).kind == VerdictKind::need_another);
  }
}

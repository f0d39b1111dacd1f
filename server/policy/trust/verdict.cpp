#include "server/policy/trust/verdict.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace gleaner::policy {
namespace {

using Reliabilities = std::map<std::int64_t, double>;  // by party: the best of its hosts

// Opinions that agree with the first of them: a tolerance is not transitive, so the first is the measure.
struct Class {
  std::vector<std::size_t> members;
  Reliabilities parties;  // of who gave it
  bool own = false;
};

// Hosts that stand for themselves are parties of their own; newcomers add nothing to a known host of theirs.
Reliabilities parties_of(std::span<const Opinion> opinions, const std::vector<std::size_t>& members) {
  const auto alone = [](const Opinion& opinion) { return opinion.party == 0 || opinion.known; };
  Reliabilities parties;
  for (const std::size_t i : members) {
    double& best = parties[alone(opinions[i]) ? -opinions[i].host.value : opinions[i].party];
    best = std::max(best, opinions[i].reliability);
  }
  for (const std::size_t i : members)
    if (alone(opinions[i]) && opinions[i].party != 0) parties.erase(opinions[i].party);
  return parties;
}

std::vector<Class> classes_of(std::span<const Opinion> opinions,
                              const std::function<bool(std::size_t, std::size_t)>& same) {
  std::vector<Class> classes;
  for (std::size_t i = 0; i < opinions.size(); ++i) {
    auto home = std::find_if(classes.begin(), classes.end(),
                             [&](const Class& known) { return same(known.members.front(), i); });
    if (home == classes.end()) home = classes.emplace(classes.end());
    home->members.push_back(i);
    home->own = home->own || opinions[i].own;
  }
  for (Class& each : classes) each.parties = parties_of(opinions, each.members);
  return classes;
}

// Logarithms of the classes' probabilities, and last that of none being right, but for a common factor.
std::vector<double> log_likelihoods(const std::vector<Class>& classes, double coincidence) {
  double all_wrong = 0;
  std::vector<double> gains;  // of being right instead
  for (const Class& known : classes) {
    const double alike = static_cast<double>(known.parties.size() - 1) * std::log(coincidence);
    double wrong = alike, right = 0;
    for (const auto& [party, reliability] : known.parties) {
      wrong += std::log1p(-reliability);
      right += std::log(reliability);
    }
    all_wrong += wrong;
    gains.push_back(right - wrong);
  }
  for (double& gain : gains) gain += all_wrong;
  gains.push_back(all_wrong);
  return gains;
}

}  // namespace

Verdict judge(std::span<const Opinion> opinions, const std::function<bool(std::size_t, std::size_t)>& same,
              const VerdictTerms& terms) {
  Verdict verdict;
  const std::vector<Class> classes = classes_of(opinions, same);
  if (classes.empty()) return verdict;
  verdict.differ = classes.size() > 1;
  verdict.classes.resize(opinions.size());
  for (std::size_t number = 0; number < classes.size(); ++number)
    for (const std::size_t member : classes[number].members) verdict.classes[member] = number;
  const std::vector<double> likely = log_likelihoods(classes, terms.coincidence);
  const auto best = std::max_element(likely.begin(), likely.end() - 1);
  double others = 0;
  for (auto next = likely.begin(); next != likely.end(); ++next)
    if (next != best) others += std::exp(*next - *best);
  const Class& chosen = classes[static_cast<std::size_t>(best - likely.begin())];
  const auto parties = static_cast<int>(chosen.parties.size());
  const bool alone = classes.size() == 1 && parties == 1 && terms.agree_min <= 1;  // nothing to compare
  const bool enough = chosen.own || parties >= std::max(terms.agree_min, 2);
  if (alone || (enough && others * terms.odds <= 1)) {
    verdict.kind = classes.size() == 1 ? VerdictKind::agree : VerdictKind::decided;
    verdict.independent = chosen.own || parties >= 2;
    verdict.right = chosen.members;
    for (const Class& other : classes)
      if (&other != &chosen)
        verdict.wrong.insert(verdict.wrong.end(), other.members.begin(), other.members.end());
    return verdict;
  }
  verdict.kind = std::cmp_greater_equal(count_parties(opinions), terms.opinions_max)
                     ? VerdictKind::undecided
                     : VerdictKind::need_another;
  return verdict;
}

std::size_t count_parties(std::span<const Opinion> opinions) {
  std::vector<std::size_t> all(opinions.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return parties_of(opinions, all).size();
}

int opinions_max(std::size_t hosts, int quorum) {
  return static_cast<int>(std::clamp(hosts, opinions_least, opinions_most)) + quorum - 1;
}

}  // namespace gleaner::policy

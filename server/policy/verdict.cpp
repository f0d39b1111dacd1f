#include "server/policy/verdict.h"

#include <algorithm>
#include <set>

namespace gleaner::policy {
namespace {

std::size_t hosts_in(std::span<const Opinion> opinions, const std::vector<std::size_t>& members) {
  std::set<HostId> hosts;
  for (const std::size_t member : members) hosts.insert(opinions[member].host);
  return hosts.size();
}

}  // namespace

Verdict judge(std::span<const Opinion> opinions, const std::function<bool(std::size_t, std::size_t)>& same,
              int opinions_max) {
  // Classes of opinions that agree with the first of their class, in order of appearance: a tolerance is not
  // transitive, so the first one is the measure.
  std::vector<std::vector<std::size_t>> classes;
  std::set<HostId> hosts;
  for (std::size_t i = 0; i < opinions.size(); ++i) {
    hosts.insert(opinions[i].host);
    const auto home = std::find_if(classes.begin(), classes.end(),
                                   [&](const auto& members) { return same(members.front(), i); });
    if (home == classes.end()) {
      classes.push_back({i});
    } else {
      home->push_back(i);
    }
  }
  Verdict verdict;
  if (classes.size() <= 1) {
    if (!classes.empty()) verdict.right = classes.front();
    return verdict;
  }
  std::size_t most = 0, second = 0;
  const std::vector<std::size_t>* largest = nullptr;
  for (const auto& members : classes) {
    const std::size_t count = hosts_in(opinions, members);
    if (count > most) {
      second = most;
      most = count;
      largest = &members;
    } else {
      second = std::max(second, count);
    }
  }
  if (most >= 2 && most > second) {
    verdict.kind = VerdictKind::decided;
    verdict.right = *largest;
    for (std::size_t i = 0; i < opinions.size(); ++i) {
      if (std::find(largest->begin(), largest->end(), i) == largest->end()) verdict.wrong.push_back(i);
    }
    return verdict;
  }
  verdict.kind =
      static_cast<int>(hosts.size()) >= opinions_max ? VerdictKind::undecided : VerdictKind::need_another;
  return verdict;
}

}  // namespace gleaner::policy

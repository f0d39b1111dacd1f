#include "server/policy/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gleaner::policy {
namespace {

constexpr int rounds = 4;  // of items and pairs in turn; distinct causes settle in two
constexpr int hold_doublings_max = 20;
constexpr std::size_t message_length_max = 400;
constexpr double even = 0.5;

double odds_of(double probability) {
  return probability / (1 - probability);
}

double probability_of(double odds) {
  return std::isinf(odds) ? 1 : odds / (1 + odds);
}

// A witness against a suspect that counts for `weight`.
double against(double ratio, double weight) {
  return 1 + weight * (ratio - 1);
}

}  // namespace

double Blame::item_odds(const Item& item, const std::map<HostId, double>& pairs) const {
  double odds = odds_of(rules_.item_prior);
  for (const auto& [host, times] : item.failures) odds *= against(rules_.failure_ratio, 1 - pairs.at(host));
  return odds;
}

double Blame::pair_odds(const Pair& pair, ProblemId problem,
                        const std::map<std::int64_t, double>& items) const {
  double odds = odds_of(rules_.pair_prior) * (pair.has_delivered ? rules_.success_ratio : 1);
  for (const auto& [of, item] : pair.failed) {
    const auto known = of == problem ? items.find(item) : items.end();
    odds *= against(rules_.failure_ratio, known == items.end() ? 1 : 1 - known->second);
  }
  return odds;
}

Blame::Belief Blame::settle(ProblemId problem, ApplicationId application) const {
  Belief belief;
  const auto found = items_.find(problem);
  if (found == items_.end()) return belief;
  for (const auto& [number, item] : found->second) {
    belief.items[number] = 0;
    for (const auto& [host, times] : item.failures) belief.pairs[host] = 0;
  }
  for (int round = 0; round < rounds; ++round) {
    for (auto& [host, broken] : belief.pairs) {
      const auto pair = pairs_.find({host, application});
      broken = pair == pairs_.end() ? rules_.pair_prior
                                    : probability_of(pair_odds(pair->second, problem, belief.items));
    }
    for (auto& [number, broken] : belief.items)
      broken = probability_of(item_odds(found->second.at(number), belief.pairs));
  }
  return belief;
}

double Blame::item_broken(ProblemId problem, std::int64_t item) const {
  const auto items = items_.find(problem);
  const auto found = items == items_.end() ? Items::const_iterator{} : items->second.find(item);
  if (items == items_.end() || found == items->second.end()) return rules_.item_prior;
  return settle(problem, found->second.application).items.at(item);
}

double Blame::pair_broken(HostId host, ApplicationId application) const {
  const auto pair = pairs_.find({host, application});
  if (pair == pairs_.end()) return rules_.pair_prior;
  // Items of one problem are explained by that problem's other witnesses; the run may span several.
  double odds = pair_odds(pair->second, {}, {});
  std::set<ProblemId> problems;
  for (const auto& [problem, item] : pair->second.failed) problems.insert(problem);
  for (const ProblemId problem : problems)
    odds = std::min(odds, pair_odds(pair->second, problem, settle(problem, application).items));
  return probability_of(odds);
}

double Blame::application_broken(ApplicationId application, int computing) const {
  double odds =
      odds_of(proven_.contains(application) ? rules_.application_prior : rules_.new_application_prior);
  for (const auto& [key, pair] : pairs_) {
    if (key.second != application) continue;
    const double broken = pair_broken(key.first, application);
    if (broken >= even) {
      odds *= against(rules_.failure_ratio, broken);
    } else if (pair.has_delivered) {
      odds *= rules_.success_ratio;
    }
  }
  return probability_of(odds * std::pow(rules_.silence_ratio, computing));
}

double Blame::host_broken(HostId host) const {
  double odds = odds_of(rules_.host_prior);
  for (auto next = pairs_.lower_bound({host, {}}); next != pairs_.end() && next->first.first == host;
       ++next) {
    const ApplicationId application = next->first.second;
    if (const double broken = pair_broken(host, application); broken >= even) {
      odds *= against(rules_.failure_ratio, broken * (1 - application_broken(application, 0)));
    } else if (next->second.has_delivered) {
      odds *= rules_.success_ratio;
    }
  }
  return probability_of(odds);
}

double Blame::hold_for(int times) const {
  return std::min(rules_.longest_hold,
                  rules_.first_hold * std::pow(2.0, std::clamp(times - 1, 0, hold_doublings_max)));
}

std::vector<Ruling> Blame::failed(const Failure& failure, int computing, Timestamp now) {
  Items& items = items_[failure.problem];
  Item& item = items[failure.item];
  item.application = failure.application;
  item.order = ++order_;
  ++item.failures[failure.host];
  Pair& pair = pairs_[{failure.host, failure.application}];
  pair.failed.insert({failure.problem, failure.item});
  ++pair.failures;
  if (items.size() > items_max) {
    const auto oldest = std::min_element(items.begin(), items.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.set_aside, a.second.order) < std::pair(b.second.set_aside, b.second.order);
    });
    items.erase(oldest);
  }

  std::vector<Ruling> rulings;
  const Belief belief = settle(failure.problem, failure.application);
  rule_on_items(failure, belief, rulings);
  rule_on_pair(failure, belief, now, rulings);
  rule_on_host(failure, now, rulings);
  rule_on_application(failure, computing, rulings);
  return rulings;
}

void Blame::rule_on_items(const Failure& failure, const Belief& belief, std::vector<Ruling>& rulings) {
  for (auto& [number, item] : items_.at(failure.problem)) {
    const double broken = belief.items.at(number);
    int times = 0;
    for (const auto& [host, count] : item.failures) times += count;
    const bool lone = item.failures.size() == 1 && times >= rules_.lone_failures &&
                      belief.pairs.at(item.failures.begin()->first) < even;
    const bool condemned = lone || (item.failures.size() >= 2 && broken >= rules_.convicted);
    if (condemned && !item.set_aside) {
      item.set_aside = true;
      rulings.push_back({Ruling::Kind::set_aside, number, 0,
                         fmt::format("it failed {} times on {} hosts that compute others; last: {}", times,
                                     item.failures.size(), failure.message.substr(0, message_length_max))});
    } else if (item.set_aside && !lone && broken < even) {
      item.set_aside = false;
      rulings.push_back(
          {Ruling::Kind::give_back, number, 0, "the hosts that failed on it fail on everything"});
    }
  }
}

void Blame::rule_on_pair(const Failure& failure, const Belief& belief, Timestamp now,
                         std::vector<Ruling>& rulings) {
  if (belief.pairs.at(failure.host) < rules_.convicted) return;
  Pair& pair = pairs_.at({failure.host, failure.application});
  // Two failures in a row are the least that convicts: the first hold follows them.
  const double seconds = hold_for(pair.failures - 1);
  pair.held_until = now + from_seconds(seconds);
  pair.reason = failure.message.substr(0, message_length_max);
  rulings.push_back({Ruling::Kind::hold_pair, failure.item, seconds, pair.reason});
}

void Blame::rule_on_host(const Failure& failure, Timestamp now, std::vector<Ruling>& rulings) {
  if (host_broken(failure.host) < rules_.convicted) return;
  Host& host = hosts_[failure.host];
  const double seconds = hold_for(++host.holds);
  host.held_until = now + from_seconds(seconds);
  host.reason = failure.message.substr(0, message_length_max);
  rulings.push_back({Ruling::Kind::hold_host, failure.item, seconds, host.reason});
}

void Blame::rule_on_application(const Failure& failure, int computing, std::vector<Ruling>& rulings) const {
  int failing = 0, delivering = 0;
  for (const auto& [key, pair] : pairs_) {
    if (key.second != failure.application) continue;
    if (pair_broken(key.first, key.second) >= even) {
      ++failing;
    } else if (pair.has_delivered) {
      ++delivering;
    }
  }
  const bool lone = failing == 1 && delivering == 0 && computing == 0 &&
                    pairs_.at({failure.host, failure.application}).failures >= rules_.lone_failures;
  if (failing < 2 && !lone) return;
  if (application_broken(failure.application, computing) < rules_.stopped) return;
  rulings.push_back({Ruling::Kind::stop_application, failure.item, 0,
                     fmt::format("it fails on {} of {} hosts; last: {}", failing, failing + delivering,
                                 failure.message.substr(0, message_length_max))});
}

void Blame::delivered(HostId host, ApplicationId application) {
  Pair& pair = pairs_[{host, application}];
  pair.has_delivered = true;
  pair.failed.clear();
  pair.failures = 0;
  pair.held_until = {};
  hosts_.erase(host);
  proven_.insert(application);
}

std::optional<Blame::Hold> Blame::held(HostId host, ApplicationId application, Timestamp now) const {
  if (const auto found = hosts_.find(host); found != hosts_.end() && found->second.held_until > now)
    return Hold{to_seconds(found->second.held_until - now),
                "it failed with several applications: " + found->second.reason};
  if (const auto found = pairs_.find({host, application});
      found != pairs_.end() && found->second.held_until > now)
    return Hold{to_seconds(found->second.held_until - now),
                "it keeps failing with this application: " + found->second.reason};
  return std::nullopt;
}

void Blame::forget_items(ProblemId problem) {
  items_.erase(problem);
  for (auto& [key, pair] : pairs_) {
    std::erase_if(pair.failed, [&](const auto& failed) { return failed.first == problem; });
    if (pair.failed.empty()) {
      pair.failures = 0;
      pair.held_until = {};
    }
  }
}

void Blame::forgive(ApplicationId application) {
  std::erase_if(pairs_, [&](const auto& entry) { return entry.first.second == application; });
  for (auto& [problem, items] : items_)
    std::erase_if(items, [&](const auto& entry) {
      return entry.second.application == application && !entry.second.set_aside;
    });
}

void Blame::forget_host(HostId host) {
  hosts_.erase(host);
  std::erase_if(pairs_, [&](const auto& entry) { return entry.first.first == host; });
  for (auto& [problem, items] : items_)
    for (auto& [number, item] : items) item.failures.erase(host);
}

}  // namespace gleaner::policy

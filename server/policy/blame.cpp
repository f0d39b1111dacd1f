#include "server/policy/blame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shared/base/figures.h"

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

double credence_of(bool own, std::int64_t items_accepted, std::int64_t failures) {
  if (own) return 1;
  return std::min(
      1.0, static_cast<double>(items_accepted) / static_cast<double>(std::max<std::int64_t>(1, failures)));
}

double Blame::credence(HostId host, ApplicationId application) const {
  const auto pair = pairs_.find({host, application});
  return pair == pairs_.end() ? 1 : pair->second.credence;
}

double Blame::item_odds(const Item& item, const Belief& belief) const {
  double odds = odds_of(rules_.item_prior);
  for (const auto& [host, times] : item.failures)
    odds *= against(rules_.failure_ratio, credence(host, item.application) * (1 - belief.pairs.at(host)) *
                                              (1 - belief.application));
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

const Blame::Application& Blame::application_of(ApplicationId application) const {
  static const Application unknown;
  const auto found = applications_.find(application);
  return found == applications_.end() ? unknown : found->second;
}

double Blame::application_odds(ApplicationId application, const std::map<HostId, double>& known) const {
  const Application& seen = application_of(application);
  double odds = odds_of(seen.proven ? rules_.application_prior : rules_.new_application_prior) *
                std::pow(rules_.success_ratio, static_cast<double>(seen.delivering));
  for (const HostId host : seen.failing) {
    const auto found = known.find(host);
    const Pair& pair = pairs_.at({host, application});
    const double broken = found == known.end() ? probability_of(pair_odds(pair, {}, {})) : found->second;
    odds *= against(rules_.failure_ratio, pair.credence * broken);
    if (pair.has_delivered) odds *= std::pow(rules_.success_ratio, 1 - broken);
  }
  return odds;
}

Blame::Belief Blame::settle(ProblemId problem, ApplicationId application, HostId asked) const {
  Belief belief;
  if (asked.valid()) belief.pairs[asked] = 0;
  static const Items none;
  const auto known = items_.find(problem);
  const Items& items = known == items_.end() ? none : known->second;
  for (const auto& [number, item] : items) {
    belief.items[number] = 0;
    for (const auto& [host, times] : item.failures) belief.pairs[host] = 0;
  }
  for (int round = 0; round < rounds; ++round) {
    for (auto& [host, broken] : belief.pairs) {
      const auto pair = pairs_.find({host, application});
      broken = pair == pairs_.end() ? rules_.pair_prior
                                    : probability_of(pair_odds(pair->second, problem, belief.items));
    }
    belief.application = probability_of(application_odds(application, belief.pairs));
    for (auto& [number, broken] : belief.items) broken = probability_of(item_odds(items.at(number), belief));
  }
  return belief;
}

double Blame::item_broken(ProblemId problem, std::int64_t item) const {
  const auto items = items_.find(problem);
  if (items == items_.end()) return rules_.item_prior;
  const auto found = items->second.find(item);
  return found == items->second.end() ? rules_.item_prior
                                      : settle(problem, found->second.application).items.at(item);
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

double Blame::application_broken(ApplicationId application, int silent) const {
  std::map<HostId, double> pairs;
  for (const HostId host : application_of(application).failing) pairs[host] = pair_broken(host, application);
  return probability_of(application_odds(application, pairs) * std::pow(rules_.silence_ratio, silent));
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

std::vector<Ruling> Blame::failed(const Failure& failure, const std::set<HostId>& computing, Timestamp now) {
  if (failure.of_host) return hold_alone(failure, now);
  ++order_;
  // Each failure of a kernel that never ran is a witness of its own against the pair.
  const std::int64_t witness = failure.computing ? failure.item : -order_;
  Items& items = items_[failure.problem];
  if (failure.computing) {
    Item& item = items[failure.item];
    item.application = failure.application;
    item.order = order_;
    ++item.failures[failure.host];
  }
  Pair& pair = pairs_[{failure.host, failure.application}];
  Application& application = applications_[failure.application];
  if (application.failing.insert(failure.host).second && pair.has_delivered) --application.delivering;
  pair.credence = failure.credence;
  pair.failed.insert({failure.problem, witness});
  ++pair.failures;
  if (items.size() > items_max) {
    const auto oldest = std::min_element(items.begin(), items.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.set_aside, a.second.order) < std::pair(b.second.set_aside, b.second.order);
    });
    items.erase(oldest);
  }

  std::vector<Ruling> rulings;
  const Belief belief = settle(failure.problem, failure.application, failure.host);
  rule_on_items(failure, belief, rulings);
  rule_on_pair(failure, belief, now, rulings);
  rule_on_host(failure, now, rulings);
  const auto silent = std::count_if(computing.begin(), computing.end(), [&](HostId host) {
    return !pairs_.contains({host, failure.application});
  });
  rule_on_application(failure, static_cast<int>(silent), rulings);
  return rulings;
}

std::vector<Ruling> Blame::hold_alone(const Failure& failure, Timestamp now) {
  Pair& pair = pairs_[{failure.host, failure.application}];
  (void)applications_[failure.application];
  pair.credence = failure.credence;
  pair.failed.insert({failure.problem, -++order_});
  ++pair.failures;
  std::vector<Ruling> rulings;
  hold_pair(failure, hold_for(pair.failures), now, rulings);
  rule_on_host(failure, now, rulings);
  return rulings;
}

void Blame::hold_pair(const Failure& failure, double seconds, Timestamp now, std::vector<Ruling>& rulings) {
  Pair& pair = pairs_.at({failure.host, failure.application});
  pair.held_until = now + from_seconds(seconds);
  pair.reason = failure.message.substr(0, message_length_max);
  rulings.push_back({Ruling::Kind::hold_pair, failure.item, seconds, pair.reason});
}

void Blame::rule_on_items(const Failure& failure, const Belief& belief, std::vector<Ruling>& rulings) {
  // Only the item that failed now is out of every hand; others are set aside when they fail again.
  for (auto& [number, item] : items_.at(failure.problem)) {
    const double broken = belief.items.at(number);
    int times = 0, hosts = 0;
    HostId last;  // of those that count
    for (const auto& [host, count] : item.failures) {
      if (credence(host, item.application) < even) continue;
      times += count;
      ++hosts;
      last = host;
    }
    if (hosts == 0 && !item.set_aside) continue;
    const auto alone = pairs_.find({last, item.application});
    const int enough = alone != pairs_.end() && alone->second.has_delivered ? rules_.lone_failures_proven
                                                                            : rules_.lone_failures;
    const bool lone = hosts == 1 && times >= enough && belief.pairs.at(last) < even;
    // Where there are hosts that can compute the application, one of them has to have tried.
    const bool tried = application_of(item.application).delivering == 0 ||
                       std::any_of(item.failures.begin(), item.failures.end(),
                                   [&, &application = item.application](const auto& entry) {
                                     const auto pair = pairs_.find({entry.first, application});
                                     return pair != pairs_.end() && pair->second.has_delivered;
                                   });
    const bool condemned = lone || (hosts >= 2 && tried && broken >= rules_.convicted);
    if (condemned && !item.set_aside && failure.computing && number == failure.item) {
      item.set_aside = true;
      rulings.push_back({Ruling::Kind::set_aside, number, 0,
                         fmt::format("it failed {} on {}; last: {}", counted(times, "time"),
                                     counted(hosts, "host"), failure.message.substr(0, message_length_max))});
    } else if (item.set_aside && !lone && broken < even) {
      item.set_aside = false;
      rulings.push_back(
          {Ruling::Kind::give_back, number, 0, "the hosts that failed on it fail on everything"});
    }
  }
}

void Blame::rule_on_pair(const Failure& failure, const Belief& belief, Timestamp now,
                         std::vector<Ruling>& rulings) {
  const Pair& pair = pairs_.at({failure.host, failure.application});
  const auto item = items_.at(failure.problem).find(failure.item);
  // It got the same item again because nobody else had asked: others get the time to.
  const bool again = failure.computing && item != items_.at(failure.problem).end() &&
                     !item->second.set_aside && item->second.failures.at(failure.host) > 1;
  if (belief.pairs.at(failure.host) < rules_.convicted && !again) return;
  // Two failures in a row are the least that convicts: the first hold follows them.
  hold_pair(failure, hold_for(pair.failures - 1), now, rulings);
}

void Blame::rule_on_host(const Failure& failure, Timestamp now, std::vector<Ruling>& rulings) {
  if (host_broken(failure.host) < rules_.convicted) return;
  Host& host = hosts_[failure.host];
  const double seconds = hold_for(++host.holds);
  host.held_until = now + from_seconds(seconds);
  host.reason = failure.message.substr(0, message_length_max);
  rulings.push_back({Ruling::Kind::hold_host, failure.item, seconds, host.reason});
}

void Blame::rule_on_application(const Failure& failure, int silent, std::vector<Ruling>& rulings) const {
  const Application& seen = application_of(failure.application);
  // Either several hosts failed on several items, or it never worked anywhere and failed often enough.
  int convicted = 0, failing = 0, failures = 0, hosts = 0;
  for (const HostId host : seen.failing) {
    if (credence(host, failure.application) < even) continue;
    ++hosts;
    const double broken = pair_broken(host, failure.application);
    convicted += broken >= rules_.convicted ? 1 : 0;
    failing += broken >= even ? 1 : 0;
    failures += pairs_.at({host, failure.application}).failures;
  }
  const bool nowhere =
      seen.delivering == 0 && failures >= rules_.lone_failures && (failing >= 2 || silent == 0);
  if (convicted < 2 && !nowhere) return;
  if (application_broken(failure.application, silent) < rules_.stopped) return;
  // Some of them may be excused by broken items, even all: they have failed and not delivered since.
  rulings.push_back({Ruling::Kind::stop_application, failure.item, 0,
                     fmt::format("it fails on {} of {} hosts; last: {}", hosts, hosts + seen.delivering,
                                 failure.message.substr(0, message_length_max))});
}

void Blame::delivered(HostId host, ApplicationId id) {
  Application& application = applications_[id];
  Pair& pair = pairs_[{host, id}];
  if (pair.has_delivered && pair.failed.empty()) return;  // nothing new
  application.proven = true;
  if (application.failing.erase(host) > 0 || !pair.has_delivered) ++application.delivering;
  pair.has_delivered = true;
  pair.failed.clear();
  pair.failures = 0;
  pair.held_until = {};
  pair.reason.clear();
  hosts_.erase(host);
}

std::optional<std::pair<ApplicationId, Blame::Hold>> Blame::held_from(HostId host, Timestamp now) const {
  for (auto next = pairs_.lower_bound({host, {}}); next != pairs_.end() && next->first.first == host; ++next)
    if (const auto hold = held(host, next->first.second, now)) return std::pair(next->first.second, *hold);
  return std::nullopt;
}

Ruling Blame::unverified(HostId host, ApplicationId application, const std::string& message, Timestamp now) {
  Pair& pair = pairs_[{host, application}];
  pair.held_until = std::max(pair.held_until, now + from_seconds(rules_.first_hold));
  pair.reason = "it could not verify its download: " + message.substr(0, message_length_max);
  return {Ruling::Kind::hold_pair, 0, rules_.first_hold, pair.reason};
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
  for (auto& [id, application] : applications_) {
    std::erase_if(application.failing, [&, &digest = id, &delivering = application.delivering](HostId host) {
      Pair& pair = pairs_.at({host, digest});
      std::erase_if(pair.failed, [&](const auto& failed) { return failed.first == problem; });
      if (!pair.failed.empty()) return false;
      if (pair.has_delivered) ++delivering;
      pair.failures = 0;
      pair.held_until = {};
      return true;
    });
  }
}

void Blame::forgive(ApplicationId id) {
  std::erase_if(pairs_, [&](const auto& entry) { return entry.first.second == id; });
  applications_.erase(id);
  for (auto& [problem, items] : items_)
    std::erase_if(
        items, [&](const auto& entry) { return entry.second.application == id && !entry.second.set_aside; });
}

void Blame::forget_host(HostId host) {
  hosts_.erase(host);
  for (auto next = pairs_.lower_bound({host, {}}); next != pairs_.end() && next->first.first == host;) {
    Application& application = applications_.at(next->first.second);
    if (application.failing.erase(host) == 0 && next->second.has_delivered) --application.delivering;
    next = pairs_.erase(next);
  }
  for (auto& [problem, items] : items_) {
    for (auto& [number, item] : items) item.failures.erase(host);
    std::erase_if(items, [](const auto& entry) { return entry.second.failures.empty(); });
  }
}

}  // namespace gleaner::policy

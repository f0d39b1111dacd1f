#include "server/policy/dispatch/fair_share.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace gleaner::policy {
namespace {

constexpr double weight_least = 1e-6;  // a weight of 0 would make service infinite
constexpr double horizon_min = 30, horizon_max = 3600;
constexpr double settle_every = 5;
constexpr double silence = 150;  // two heartbeats and a half: the host is away
constexpr double memory = 3600;  // of the times for which slots are held
constexpr double rounding = 0.5;
constexpr int slots_bits = 20;

std::uint64_t key_of(HostId host, int slot) {
  return (static_cast<std::uint64_t>(host.value) << slots_bits) | static_cast<std::uint32_t>(slot);
}

double weight_of(const ShareTerms& terms) {
  return std::max(terms.weight, weight_least);
}

}  // namespace

double FairShare::open_seconds(const Account& account, double at) {
  return std::max(0.0, static_cast<double>(account.running) * at - account.since);
}

double FairShare::service(ProblemId problem, Timestamp now) const {
  const auto found = accounts_.find(problem);
  if (found == accounts_.end()) return 0;
  const Account& account = found->second;
  return account.service + open_seconds(account, seconds(now)) / weight_of(account.terms);
}

std::int64_t FairShare::slots_held() const {
  std::int64_t held = 0;
  for (const auto& [problem, account] : accounts_) held += account.running;
  return held;
}

double FairShare::slot_seconds(ProblemId problem, Timestamp now) const {
  const auto found = accounts_.find(problem);
  if (found == accounts_.end()) return 0;
  return found->second.charged + open_seconds(found->second, seconds(now));
}

// ---- Who competes -----------------------------------------------------------------------------------------

double FairShare::level(ProblemId newcomer, int priority, double at) const {
  double sum = 0, weights = 0;
  for (const auto& [id, account] : accounts_) {
    if (id == newcomer || !account.competes || account.held_back || account.terms.priority != priority)
      continue;
    const double weight = weight_of(account.terms);
    sum += weight * account.service + open_seconds(account, at);
    weights += weight;
  }
  return weights > 0 ? sum / weights : accounts_.at(newcomer).service;
}

void FairShare::enter(ProblemId problem, ShareTerms terms, Timestamp now, std::optional<double> service) {
  if (origin_ == Timestamp{}) origin_ = now;
  change(problem, terms, now);
  Account& account = accounts_[problem];
  if (service) {
    account.service = *service;
  } else if (!account.competes) {
    account.service = level(problem, terms.priority, seconds(now));
  }
  account.competes = true;
  account.held_back = false;
}

void FairShare::change(ProblemId problem, ShareTerms terms, Timestamp now) {
  Account& account = accounts_[problem];
  if (account.terms == terms) return;
  // What it has held counts by its old weight.
  const double open = open_seconds(account, seconds(now));
  account.service += open / weight_of(account.terms) - open / weight_of(terms);
  const bool other_class = account.terms.priority != terms.priority;
  account.terms = terms;
  if (other_class && account.competes) account.service = level(problem, terms.priority, seconds(now));
}

void FairShare::withdraw(ProblemId problem) {
  if (const auto found = accounts_.find(problem); found != accounts_.end()) found->second.competes = false;
}

void FairShare::forget(ProblemId problem) {
  for (Slot& slot : slots_) {
    for (std::size_t place = slot.size(); place-- > 0;) {
      if (slot[place].problem == problem) remove(slot, place, slot[place].since);
    }
  }
  accounts_.erase(problem);
}

// ---- Who holds what ---------------------------------------------------------------------------------------

FairShare::Slot* FairShare::find_slot(HostId host, int slot) {
  const auto place = places_.find(key_of(host, slot));
  return place == places_.end() ? nullptr : &slots_[place->second];
}

void FairShare::count(Hold& hold, double from) {
  Account& account = accounts_[hold.problem];
  hold.since = from;
  hold.counts = true;
  ++account.running;
  account.since += from;
}

void FairShare::stop(Hold& hold) {
  if (!std::exchange(hold.counts, false)) return;
  Account& account = accounts_[hold.problem];
  --account.running;
  account.since = account.running == 0 ? 0 : account.since - hold.since;
}

void FairShare::charge(Hold& hold, double slot_seconds) {
  Account& account = accounts_[hold.problem];
  hold.spent += slot_seconds;
  account.charged += slot_seconds;
  account.service += slot_seconds / weight_of(account.terms);
}

void FairShare::settle_hold(Hold& hold, const Unit& unit, double at) {
  const double contact = seconds(unit.last_contact);
  const bool paused = unit.run_state == protocol::RunState::paused;
  const bool away = at - contact > silence;
  const double until = std::max(hold.since, paused || away ? std::min(contact, at) : at);
  double spent = hold.paused ? 0 : until - hold.since;
  if (hold.away) spent = std::clamp(unit.running_seconds - hold.running, 0.0, spent);
  stop(hold);
  charge(hold, spent);
  hold.since = paused ? at : until;
  hold.running = unit.running_seconds;
  hold.paused = paused;
  hold.away = away;
  if (!paused && !away) count(hold, hold.since);
}

void FairShare::close_first(Slot& slot) {
  const double spent = slot.front().spent;
  closed_sum_ += spent;
  closed_squares_ += spent * spent;
}

// The slot's first unit holds it; its last one is who will hold it next.
void FairShare::remove(Slot& slot, std::size_t place, double at) {
  const bool was_last = place + 1 == slot.size(), was_first = place == 0;
  stop(slot[place]);
  if (was_last) --accounts_[slot[place].problem].next;
  slot.erase(slot.begin() + static_cast<std::ptrdiff_t>(place));
  if (slot.empty()) return;
  if (was_last) ++accounts_[slot.back().problem].next;
  if (was_first) count(slot.front(), at);
}

void FairShare::took(ProblemId problem, const Unit& unit, bool urgent, Timestamp now) {
  if (origin_ == Timestamp{}) origin_ = now;
  const double at = seconds(now);
  const auto [place, fresh] = places_.try_emplace(key_of(unit.host, unit.slot), slots_.size());
  if (fresh) slots_.emplace_back();
  Slot& slot = slots_[place->second];
  if (urgent && !slot.empty()) {  // finished, and not delivered yet, or lost
    if (Hold& first = slot.front(); first.counts) charge(first, std::max(0.0, at - first.since));
    close_first(slot);
    while (!slot.empty()) remove(slot, slot.size() - 1, at);
  }
  if (!slot.empty()) --accounts_[slot.back().problem].next;
  ++accounts_[problem].next;
  slot.push_back({problem, unit.id, at, 0, unit.running_seconds});
  if (slot.size() == 1) count(slot.front(), at);
}

void FairShare::closed(ProblemId problem, const Unit& unit, Timestamp now) {
  Slot* slot = find_slot(unit.host, unit.slot);
  if (slot == nullptr) return;
  const auto hold = std::find_if(slot->begin(), slot->end(), [&](const Hold& one) {
    return one.unit == unit.id && one.problem == problem;
  });
  if (hold == slot->end()) return;
  const double at = seconds(now);
  if (hold == slot->begin()) {
    settle_hold(*hold, unit, at);
    close_first(*slot);
  }
  remove(*slot, static_cast<std::size_t>(hold - slot->begin()), at);
}

void FairShare::settle(const FindUnit& find, Timestamp now) {
  const double at = seconds(now);
  if (at - settled_at_ < settle_every) return;
  const double fading = std::exp(-(at - settled_at_) / memory);
  settled_at_ = at;
  closed_sum_ *= fading;
  closed_squares_ *= fading;
  const auto competing = std::count_if(accounts_.begin(), accounts_.end(),
                                       [](const auto& entry) { return entry.second.competes; });
  if (competing < 2) return;
  open_sum_ = open_squares_ = 0;
  for (Slot& slot : slots_) {
    if (slot.empty()) continue;
    Hold& hold = slot.front();
    if (const Unit* unit = find(hold.problem, hold.unit); unit != nullptr) settle_hold(hold, *unit, at);
    open_sum_ += hold.spent;
    open_squares_ += hold.spent * hold.spent;
  }
}

// ---- Whose turn it is -------------------------------------------------------------------------------------

double FairShare::horizon() const {
  const double sum = closed_sum_ + open_sum_;
  const double mean = sum > 0 ? (closed_squares_ + open_squares_) / sum : 0;
  return std::clamp(mean, horizon_min, horizon_max);
}

void FairShare::limit_savings(int priority, double at) {
  double weights = 0, most = 0;
  std::int64_t slots = 0;
  bool any = false;
  for (const auto& [id, account] : accounts_) {
    if (!account.competes || account.terms.priority != priority) continue;
    const double service = account.service + open_seconds(account, at) / weight_of(account.terms);
    most = any ? std::max(most, service) : service;
    any = true;
    weights += weight_of(account.terms);
    slots += account.next;
  }
  for (auto& [id, account] : accounts_) {
    if (!account.competes || account.terms.priority != priority) continue;
    const double weight = weight_of(account.terms);
    const double savings = horizon() * std::max(static_cast<double>(slots) / weights, 1 / weight);
    const double lacking = most - savings - (account.service + open_seconds(account, at) / weight);
    account.held_back = lacking > 0;
    account.service += std::max(0.0, lacking);
  }
}

std::vector<ProblemId> FairShare::order(std::span<const ProblemId> candidates, HostId host, int slot,
                                        Timestamp now) {
  std::vector<ProblemId> order(candidates.begin(), candidates.end());
  if (order.size() < 2) return order;
  const double at = seconds(now);
  const Slot* own = find_slot(host, slot);
  const ProblemId next = own == nullptr || own->empty() ? ProblemId{} : own->back().problem;
  std::set<int> classes;
  for (const ProblemId id : candidates) classes.insert(accounts_[id].terms.priority);
  for (const int priority : classes) limit_savings(priority, at);
  const auto projected = [&](ProblemId id) {
    const Account& account = accounts_.at(id);
    const auto slots = static_cast<double>(account.next - (id == next ? 1 : 0));
    const double used = account.service * weight_of(account.terms) + open_seconds(account, at);
    return (used + horizon() * (slots + rounding)) / weight_of(account.terms);
  };
  std::sort(order.begin(), order.end(), [&](ProblemId a, ProblemId b) {
    const int first = accounts_.at(a).terms.priority, second = accounts_.at(b).terms.priority;
    if (first != second) return first > second;
    const double x = projected(a), y = projected(b);
    return x != y ? x < y : a < b;
  });
  return order;
}

}  // namespace gleaner::policy

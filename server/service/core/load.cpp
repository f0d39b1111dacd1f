#include "server/service/core/load.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "server/service/core/bucket.h"

namespace gleaner::service {
namespace {

constexpr double megabyte = 1 << 20;
constexpr std::size_t swept_at_least = 1024;

// What a host, or a network, may do in a second.
struct Quota {
  double requests = 0;
  double bytes = 0;
};

Quota quota_of(std::int64_t requests, std::int64_t megabytes) {
  return {static_cast<double>(requests), static_cast<double>(megabytes) * megabyte};
}

}  // namespace

struct Load::Entry {
  explicit Entry(const Quota& its) : quota(its) {}
  const Quota quota;
  int under_way = 0;  // of a network
  Bucket requests, bytes;
  Bucket seldom;  // of a host: as often as a client asks

  [[nodiscard]] Duration of_request() const { return from_seconds(1 / quota.requests); }
  [[nodiscard]] Duration of_bytes(std::int64_t count) const {
    return from_seconds(static_cast<double>(count) / quota.bytes);
  }
  [[nodiscard]] bool says_nothing(SteadyTime now) const {
    return under_way == 0 && requests.missing(now) == Duration{0} && bytes.missing(now) == Duration{0} &&
           seldom.missing(now) == Duration{0};
  }
  // What there are too many of; null: one more request may come.
  [[nodiscard]] const char* objects(Size size, Duration depth, SteadyTime now) const {
    if (requests.missing(now) + of_request() > depth) return "more requests";
    return size == Size::large && bytes.missing(now) > depth ? "more bytes" : nullptr;
  }
};

// Entries by name; those that are as if nobody had ever come go when it has grown to twice what was left.
template <typename Key>
class Entries {
 public:
  explicit Entries(const Quota& quota) : quota_(quota) {}
  [[nodiscard]] const std::shared_ptr<Load::Entry>& at(const Key& key, SteadyTime now) {
    if (entries_.size() >= sweep_at_ && !entries_.contains(key)) {
      std::erase_if(entries_, [&](const auto& entry) {
        return entry.second.use_count() == 1 && entry.second->says_nothing(now);
      });
      sweep_at_ = std::max(swept_at_least, 2 * entries_.size());
    }
    std::shared_ptr<Load::Entry>& entry = entries_[key];
    if (!entry) entry = std::make_shared<Load::Entry>(quota_);
    return entry;
  }
  [[nodiscard]] const Load::Entry* find(const Key& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second.get();
  }

 private:
  const Quota quota_;
  std::size_t sweep_at_ = swept_at_least;
  std::unordered_map<Key, std::shared_ptr<Load::Entry>> entries_;
};

struct Load::State {
  State(const Clock& its_clock, const Quota& of_host, const Quota& of_network)
      : clock(its_clock), hosts(of_host), networks(of_network) {}
  const Clock& clock;
  std::mutex mutex;
  int all = 0;
  std::int64_t refused = 0;
  Entries<HostId> hosts;
  Entries<std::string> networks;
  // Of hosts that ask often: how many are worked on, and which wait.
  int worked_on = 0;
  struct Turn {
    Ticket* ticket;  // `work` holds it
    std::function<void()> work;
  };
  std::deque<Turn> turns;

  void give_turns();
  [[nodiscard]] static bool asks_often(const Entry* host, SteadyTime now);
  [[nodiscard]] static int places_for(const Visitor& who, const Entry* host, SteadyTime now);
  // Why it may not; empty: it may.
  [[nodiscard]] std::string objection(const Visitor& who, Size size, const Entry* host, const Entry& network,
                                      SteadyTime now) const;
};

bool Load::State::asks_often(const Entry* host, SteadyTime now) {
  return host != nullptr && host->seldom.missing(now) > at_once;
}

int Load::State::places_for(const Visitor& who, const Entry* host, SteadyTime now) {
  if (who.caller == Caller::stranger) return limits::strangers_requests_under_way_max;
  return asks_often(host, now) ? limits::frequent_requests_under_way_max : limits::requests_under_way_max;
}

void Load::State::give_turns() {
  // What is done at once leaves while it is here: it is for the loop to go on then, not for the next call.
  static thread_local bool giving = false;
  if (std::exchange(giving, true)) return;
  const std::unique_ptr<bool, void (*)(bool*)> given(&giving, [](bool* still) { *still = false; });
  while (true) {
    std::function<void()> work;
    {
      const std::lock_guard lock(mutex);
      if (turns.empty() || worked_on >= limits::frequent_requests_worked_on_max) break;
      ++worked_on;
      turns.front().ticket->begun_ = true;
      work = std::move(turns.front().work);
      turns.pop_front();
    }
    work();
  }
}

std::string Load::State::objection(const Visitor& who, Size size, const Entry* host, const Entry& network,
                                   SteadyTime now) const {
  const bool stranger = who.caller == Caller::stranger;
  if (all >= places_for(who, host, now)) return "the server has as much to do as it can";
  if (who.caller == Caller::administrator) return {};
  if (network.under_way >= (stranger ? strangers_of_network_max : of_network_max))
    return "as many requests as one network may have are under way from " + who.network;
  if (host != nullptr)
    if (const char* const more = host->objects(size, at_once, now); more != nullptr)
      return std::string(more) + " than one host may send or fetch came from this one";
  if (const char* const more = network.objects(size, stranger ? at_once / 2 : at_once, now); more != nullptr)
    return std::string(more) + " than one network may send or fetch came from " + who.network;
  return {};
}

Load::Load(const Clock& clock, const Configuration& configuration)
    : state_(std::make_shared<State>(
          clock, quota_of(configuration.host_requests_per_second, configuration.host_megabytes_per_second),
          quota_of(configuration.network_requests_per_second, configuration.network_megabytes_per_second))) {}

Result<Load::Place> Load::enter(const Visitor& who, Size size) {
  const SteadyTime now = state_->clock.steady();
  const std::lock_guard lock(state_->mutex);
  const auto& network = state_->networks.at(who.network, now);
  const auto host = who.host ? state_->hosts.at(*who.host, now) : nullptr;
  if (std::string why = state_->objection(who, size, host.get(), *network, now); !why.empty()) {
    ++state_->refused;
    return Error{ErrorKind::unavailable, std::move(why) + ": try again later"};
  }
  ++state_->all;
  ++network->under_way;
  const auto pace = State::asks_often(host.get(), now) ? Ticket::Pace::often : Ticket::Pace::seldom;
  const bool counts = who.caller != Caller::administrator;
  if (host) {
    host->requests.take(host->of_request(), now);
    // It owes no more than that, so that it asks seldom again as soon as it does.
    if (host->seldom.missing(now) <= at_once) host->seldom.take(client_asks_every, now);
  }
  if (counts) network->requests.take(network->of_request(), now);
  return std::make_shared<Ticket>(state_, network, Account(state_, host, counts ? network : nullptr), pace);
}

bool Load::owes(HostId host) const {
  const SteadyTime now = state_->clock.steady();
  const std::lock_guard lock(state_->mutex);
  const Entry* const entry = state_->hosts.find(host);
  return entry != nullptr && entry->bytes.missing(now) > at_once;
}

int Load::under_way() const {
  const std::lock_guard lock(state_->mutex);
  return state_->all;
}

std::int64_t Load::refused() const {
  const std::lock_guard lock(state_->mutex);
  return state_->refused;
}

Load::Account::Account(std::shared_ptr<State> state, std::shared_ptr<Entry> host,
                       std::shared_ptr<Entry> network)
    : state_(std::move(state)), host_(std::move(host)), network_(std::move(network)) {}

void Load::Account::take(std::int64_t bytes) const {
  const SteadyTime now = state_->clock.steady();
  const std::lock_guard lock(state_->mutex);
  for (Entry* const entry : {host_.get(), network_.get()})
    if (entry != nullptr) entry->bytes.take(entry->of_bytes(bytes), now);
}

void Load::Account::give_back(std::int64_t bytes) const {
  const std::lock_guard lock(state_->mutex);
  for (Entry* const entry : {host_.get(), network_.get()})
    if (entry != nullptr) entry->bytes.give_back(entry->of_bytes(bytes));
}

Load::Ticket::Ticket(std::shared_ptr<State> state, std::shared_ptr<Entry> network, Account account, Pace pace)
    : state_(std::move(state)), network_(std::move(network)), account_(std::move(account)), pace_(pace) {}

Load::Ticket::~Ticket() {
  leave();
}

bool Load::Ticket::begin() {
  if (pace_ == Pace::seldom) return true;
  const std::lock_guard lock(state_->mutex);
  if (state_->worked_on >= limits::frequent_requests_worked_on_max) return false;
  ++state_->worked_on;
  return begun_ = true;
}

void Load::Ticket::wait(std::function<void()> work) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->turns.push_back({this, std::move(work)});
  }
  state_->give_turns();  // one may have left meanwhile
}

void Load::Ticket::leave() {
  {
    const std::lock_guard lock(state_->mutex);
    if (std::exchange(left_, true)) return;
    --state_->all;
    --network_->under_way;
    if (!begun_) return;
    --state_->worked_on;
  }
  state_->give_turns();
}

}  // namespace gleaner::service

#include "server/service/operator/host_standings.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "server/service/operator/describe.h"

namespace gleaner::service {
namespace {

constexpr std::array<std::pair<std::string_view, HostOrder>, 12> orders{{
    {"number", HostOrder::number},
    {"delivered", HostOrder::delivered},
    {"name", HostOrder::name},
    {"state", HostOrder::state},
    {"reason", HostOrder::reason},
    {"cores", HostOrder::cores},
    {"speed", HostOrder::speed},
    {"trust", HostOrder::trust},
    {"items", HostOrder::items},
    {"cost", HostOrder::cost},
    {"version", HostOrder::version},
    {"contact", HostOrder::contact},
}};

// As people count: pc-9 before pc-10. Numbers of the same value in the order of their zeros.
bool natural_less(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    const auto end = std::find_if(text.begin(), text.end(), [](char c) { return c < '0' || c > '9'; });
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
  };
  while (!a.empty() && !b.empty()) {
    const auto left = digits(a), right = digits(b);
    if (!left.empty() && !right.empty()) {
      const auto value = [](std::string_view text) {
        return text.substr(std::min(text.find_first_not_of('0'), text.size()));
      };
      const auto x = value(left), y = value(right);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      a.remove_prefix(left.size());
      b.remove_prefix(right.size());
      continue;
    }
    const int x = std::tolower(static_cast<unsigned char>(a[0]));
    const int y = std::tolower(static_cast<unsigned char>(b[0]));
    if (x != y) return x < y;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() && !b.empty();
}

}  // namespace

std::optional<HostOrder> host_order_from(std::string_view name) {
  for (const auto& [text, order] : orders)
    if (text == name) return order;
  return std::nullopt;
}

HostStandings::Ranked HostStandings::ranked(const Model& model, const Host& host, HostOrder order,
                                            Timestamp now) {
  Ranked entry{host.row.id, 0, {}, host.row.cost_accepted};
  const bool described = order == HostOrder::reason || order == HostOrder::trust;
  const auto info = described ? describe(model, host, now) : protocol::HostInfo{};
  const bool active = host.row.state == protocol::HostState::active;
  const bool held = active && !host.row.on_hold.empty();
  switch (order) {
    case HostOrder::number:
      entry.number = static_cast<double>(host.row.id.value);
      break;
    case HostOrder::delivered:
      entry.number = -host.row.cost_accepted;
      break;
    case HostOrder::name:
      entry.text = host.row.name;
      break;
    case HostOrder::state:
      entry.text = held ? "on hold" : protocol::name_of(host.row.state);
      break;
    case HostOrder::reason:
      if (active && host.units.empty()) entry.text = held ? host.row.on_hold : info.state_reason;
      break;
    case HostOrder::cores:
      entry.number = host.lent_cores();
      break;
    case HostOrder::speed:
      entry.number = host.row.mflops;
      break;
    case HostOrder::trust:
      entry.number = info.trust;
      break;
    case HostOrder::items:
      entry.number = static_cast<double>(host.row.items_accepted);
      break;
    case HostOrder::cost:
      entry.number = host.row.cost_accepted;
      break;
    case HostOrder::version:
      entry.text = host.row.client_version;
      break;
    case HostOrder::contact:
      entry.number = to_seconds(host.row.last_contact - Timestamp{});
      break;
  }
  return entry;
}

void HostStandings::look(Column column, Done<std::shared_ptr<const Standings>> then) {
  if (auto list = young(column)) return then(std::move(list));
  collect(column, HostId{}, std::make_shared<Hosts>(), std::move(then));
}

std::shared_ptr<const Standings> HostStandings::young(const Column& column) {
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_,
                [&](const auto& each) { return kernel_.clock().steady() - each.second.made >= age_max; });
  const auto found = kept_.find(column);
  return found == kept_.end() ? nullptr : found->second.list;
}

void HostStandings::collect(Column column, HostId after, std::shared_ptr<Hosts> so_far,
                            Done<std::shared_ptr<const Standings>> then) {
  kernel_.decide<Hosts>(
      [column, after](const Transaction& tx, Result<Hosts>& some) -> Status {
        Hosts hosts;
        for (auto host = tx.model.hosts.upper_bound(after);
             host != tx.model.hosts.end() && std::ssize(hosts) < limits::hosts_filtered_max; ++host)
          hosts.push_back(ranked(tx.model, host->second, column.order, tx.now));
        some = std::move(hosts);
        return {};
      },
      [this, column, so_far, then = std::move(then)](Result<Hosts> some) {
        if (!some.ok()) return then(some.error());
        const bool more = std::ssize(*some) == limits::hosts_filtered_max;
        const HostId last = more ? some->back().host : HostId{};
        so_far->insert(so_far->end(), std::make_move_iterator(some->begin()),
                       std::make_move_iterator(some->end()));
        if (more) return collect(column, last, so_far, then);
        then(sorted(column, std::move(*so_far)));
      });
}

// On the pool: the writer has better things to do.
std::shared_ptr<const Standings> HostStandings::sorted(const Column& column, Hosts hosts) {
  const bool numbers =
      std::all_of(hosts.begin(), hosts.end(), [](const Ranked& each) { return each.text.empty(); });
  const auto before = [&](const Ranked& a, const Ranked& b) {
    return numbers ? a.number < b.number : natural_less(a.text, b.text);
  };
  std::stable_sort(hosts.begin(), hosts.end(), [&](const Ranked& a, const Ranked& b) {
    return column.descending ? before(b, a) : before(a, b);
  });
  auto list = std::make_shared<Standings>();
  list->hosts.reserve(hosts.size());
  for (const Ranked& each : hosts) {
    list->hosts.push_back(each.host);
    list->cost += each.cost;
  }
  const std::lock_guard lock(mutex_);
  kept_[column] = {list, kernel_.clock().steady()};
  return list;
}

}  // namespace gleaner::service

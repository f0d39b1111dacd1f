#include "server/service/core/departures.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "server/service/core/end_host.h"
#include "server/service/core/put_out.h"

namespace gleaner::service {
namespace {

// The stored value that has the numbers of hosts that left, apart by spaces.
constexpr const char* departures = "departures";

bool awaited(const Model& model, HostId host) {
  return std::any_of(model.put_out.begin(), model.put_out.end(),
                     [host](const auto& entry) { return entry.second.contains(host); });
}

}  // namespace

Result<std::set<HostId>> stored_departures(storage::Store& store) {
  TRY_ASSIGN(const auto text, store.get_value(departures));
  std::set<HostId> hosts;
  std::istringstream numbers(text.value_or(""));
  for (std::int64_t number = 0; numbers >> number;) hosts.insert(HostId{number});
  return hosts;
}

Status store_departures(storage::Store& store, const std::set<HostId>& hosts) {
  std::string text;
  for (const HostId host : hosts) text += std::to_string(host.value) + " ";
  return store.set_value(departures, text);
}

Status note_departure(Transaction& tx, HostId host) {
  if (tx.settings.relay == HostId{}) return {};
  TRY_ASSIGN(auto hosts, stored_departures(tx.store));
  hosts.insert(host);
  return store_departures(tx.store, hosts);
}

Status forget_departure(Transaction& tx, HostId host) {
  TRY_ASSIGN(auto hosts, stored_departures(tx.store));
  return hosts.erase(host) > 0 ? store_departures(tx.store, hosts) : Status{};
}

Status take_put_out(Transaction& tx, const std::vector<HostId>& hosts, std::vector<HostId>& gone) {
  for (const HostId id : hosts) {
    const auto found = tx.model.hosts.find(id);
    if (found != tx.model.hosts.end() && found->second.row.state == protocol::HostState::active) {
      Host& host = found->second;
      TRY(note_put_out(tx, id));
      host.row.state_reason = "the project's administrator put it out";
      TRY(end_host(tx, host, protocol::HostState::left, "the project serves the host no more"));
      tx.effects.info(fmt::format("host {} ({}): {}", id.value, host.row.name, host.row.state_reason));
    }
    if (awaited(tx.model, id)) continue;
    TRY(note_departure(tx, id));
    gone.push_back(id);
  }
  return {};
}

}  // namespace gleaner::service

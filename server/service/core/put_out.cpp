#include "server/service/core/put_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

// The stored value that has "RELAY HOST" of each, separated by spaces.
constexpr const char* value_name = "put_out";

Status store_put_out(Transaction& tx) {
  std::string text;
  for (const auto& [relay, hosts] : tx.model.put_out)
    for (const HostId host : hosts) text += fmt::format("{} {} ", relay.value, host.value);
  return tx.store.set_value(value_name, text);
}

// Whether the model knew it.
bool erase(std::map<HostId, std::set<HostId>>& all, HostId relay, HostId host) {
  const auto found = all.find(relay);
  if (found == all.end() || found->second.erase(host) == 0) return false;
  if (found->second.empty()) all.erase(found);
  return true;
}

}  // namespace

Status load_put_out(storage::Store& store, Model& model) {
  TRY_ASSIGN(const auto text, store.get_value(value_name));
  std::istringstream numbers(text.value_or(""));
  std::int64_t relay = 0, host = 0;
  while (numbers >> relay >> host) model.put_out[HostId{relay}].insert(HostId{host});
  return {};
}

Status note_put_out(Transaction& tx, HostId host) {
  const auto above = tx.model.index.relays().above(host);
  if (above.empty()) return {};
  tx.model.put_out[above.back()].insert(host);
  return store_put_out(tx);
}

Status forget_put_out(Transaction& tx, HostId host) {
  std::vector<HostId> relays;
  for (const auto& [relay, hosts] : tx.model.put_out)
    if (hosts.contains(host)) relays.push_back(relay);
  for (const HostId relay : relays) erase(tx.model.put_out, relay, host);
  return relays.empty() ? Status{} : store_put_out(tx);
}

Result<bool> settle_put_out(Transaction& tx, HostId relay, HostId host) {
  if (!erase(tx.model.put_out, relay, host)) return false;
  TRY(store_put_out(tx));
  return true;
}

Status forget_relay_of_put_out(Transaction& tx, HostId relay) {
  return tx.model.put_out.erase(relay) > 0 ? store_put_out(tx) : Status{};
}

std::optional<std::vector<HostId>> put_out_under(const Model& model, HostId relay) {
  const auto found = model.put_out.find(relay);
  if (found == model.put_out.end()) return std::nullopt;
  std::vector<HostId> hosts(found->second.begin(), found->second.end());
  if (hosts.size() > limits::put_out_per_reply_max) hosts.resize(limits::put_out_per_reply_max);
  return hosts;
}

}  // namespace gleaner::service

#include "server/service/operator/relay_figures.h"

#include <fmt/format.h>

#include "server/service/operator/describe.h"

namespace gleaner::service {
namespace {

// With the hosts under it. The linear program of so few takes milliseconds.
constexpr std::int64_t relay_hosts_max = 100;
constexpr int relay_units_max = 50;  // whose problem counts; more add nothing

}  // namespace

Status gather_relay(Transaction& tx, const std::string& name, Result<RelayFigures>& result) {
  const Model& model = tx.model;
  const RelayIndex& index = model.index.relays();
  RelayFigures figures;
  figures.relay.name = name;
  for (const HostId id : index.relays()) {
    const Host& host = model.hosts.at(id);
    protocol::RelayInfo info;
    info.name = host.row.code;
    info.state = protocol::name_of(host.row.state);
    info.host = id;
    if (host.row.code == name) figures.relay = info;
    figures.relays.push_back(std::move(info));
  }
  const auto code = model.codes.find(name);
  if (code == model.codes.end() || code->second.children == 0) {
    result = Error{ErrorKind::not_found, "there is no relay called " + name};
    return {};
  }
  if (!figures.relay.host) {
    figures.relay.state = "allowed";
    result = std::move(figures);
    return {};
  }
  const HostId relay = *figures.relay.host;
  if (index.count(relay) > relay_hosts_max) {
    result = Error{ErrorKind::too_large,
                   fmt::format("{} has more than {} hosts: run `gleaner-admin relay explain {}`", name,
                               relay_hosts_max, name)};
    return {};
  }
  std::vector<HostId> ids{relay};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    figures.hosts.push_back(describe(model, model.hosts.at(ids[i]), tx.now));
    for (const HostId below : index.under(ids[i])) ids.push_back(below);
  }
  TRY_ASSIGN(const auto places, tx.store.host_units(relay, relay_units_max));
  for (const auto& place : places) figures.units.push_back(describe(model, place));
  if (!figures.units.empty())
    if (const auto problem = model.problems.find(figures.units.front().problem);
        problem != model.problems.end()) {
      TRY_ASSIGN(figures.problem, describe_fully(tx, problem->second, limits::list_length_max));
    }
  result = std::move(figures);
  return {};
}

}  // namespace gleaner::service

// Problems: what a running kernel says, for who looks at it.
#include "server/service/operator/problems.h"

namespace gleaner::service {
namespace {

struct Running {
  const Host* host = nullptr;  // null: none
  UnitId unit;
};

// A unit of the problem that this host has: one that somebody looks at already, else the oldest. A relay's
// units have no kernel there.
Running running_at(const Transaction& tx, ProblemId problem, const Host& host) {
  Running oldest;
  if (host.row.children > 0) return oldest;
  for (const UnitId unit : host.units) {
    const auto place = tx.model.open_units.find(unit);
    if (place == tx.model.open_units.end() || place->second != problem) continue;
    if (tx.model.outputs.wanted(unit, tx.now)) return {&host, unit};
    if (oldest.host == nullptr || unit.value < oldest.unit.value) oldest = {&host, unit};
  }
  return oldest;
}

Running running(const Transaction& tx, ProblemId problem, HostId host) {
  if (host != HostId{}) {
    const auto found = tx.model.hosts.find(host);
    return found == tx.model.hosts.end() ? Running{} : running_at(tx, problem, found->second);
  }
  for (const auto& [id, one] : tx.model.hosts)
    if (const Running found = running_at(tx, problem, one); found.host != nullptr) return found;
  return {};
}

}  // namespace

void Problems::output(ProblemId id, HostId host, Done<protocol::KernelOutput> done) {
  kernel_.decide<protocol::KernelOutput>(
      [id, host](Transaction& tx, Result<protocol::KernelOutput>& output) -> Status {
        if (!tx.model.problems.contains(id)) {
          output = Error{ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
          return {};
        }
        const Running found = running(tx, id, host);
        if (found.host == nullptr) {
          output = Error{ErrorKind::conflict,
                         host == HostId{} ? "no host computes it now"
                                          : "this host does not compute it now, or is a relay: it does not "
                                            "pass on what kernels of the hosts under it say"};
          return {};
        }
        const LiveOutputs::Output& known = tx.model.outputs.look(found.unit, tx.now);
        output = protocol::KernelOutput{found.host->row.id, found.host->row.name, found.unit, known.text,
                                        known.at};
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service

// Why a problem goes on or not: for people, instead of a time when it will be done. Writer thread only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "server/service/core/model.h"

namespace gleaner::service {

// What the hosts of the project do, for as many problems as are asked about: one pass over the hosts. A relay
// computes nothing, and speaks for the hosts under it: they are online when the one above them all is, and at
// work when that has a unit.
struct FleetNow {
  std::int64_t joined = 0;          // and neither left nor revoked
  std::int64_t online = 0;          // of them, heard of within five minutes
  std::int64_t busy = 0;            // of those, with an open unit of any problem
  std::int64_t on_hold = 0;         // of those online, without one
  std::int64_t cores = 0;           // of those online that are not on hold
  std::int64_t cores_measured = 0;  // of them, by hosts that know their speed
  double mflops_measured = 0;       // of all these cores together
  Timestamp last_contact{};
  std::map<std::string, std::int64_t> reasons;   // that those without one gave, and how many
  std::map<ApplicationId, std::int64_t> held;    // how many are held back from it after failures
  std::set<std::vector<std::string>> platforms;  // of those online that asked for work since the start

  // Of all cores online; those that have not measured themselves count as a mean one.
  [[nodiscard]] double mflops() const {
    return cores_measured == 0
               ? 0
               : mflops_measured * static_cast<double>(cores) / static_cast<double>(cores_measured);
  }
};
[[nodiscard]] FleetNow fleet_now(const Model& model, Timestamp now);

// Slots that compute: each once, whatever it holds units of, without those of silent hosts. O(problems).
struct SlotsNow {
  std::int64_t busy = 0;
  double watts = 0;  // that they draw, where owners said so
};
[[nodiscard]] SlotsNow slots_now(const Model& model, Timestamp now);

// Who speaks to the project for it: the relay above all others that it is under, or itself.
[[nodiscard]] const Host& speaker_of(const Model& model, const Host& host);
// Active, no relay, and heard of within five minutes, or its speaker was.
[[nodiscard]] bool is_online(const Model& model, const Host& host, Timestamp now);

// "needs Python 3.9 or newer; 3 of 5 hosts online have it", "has kernels for aarch64-linux; 1 of 5 hosts
// online runs one"; empty: its application has no needs, and kernels for all of them. Hosts count that asked
// for work since the server started; hosts under a relay have what the relay offers. O(hosts).
[[nodiscard]] std::string needs_text(const Model& model, const Problem& problem, Timestamp now);

// What a running problem waits for that no host is at, or of which all items are delivered; empty: it is
// being planned or combined.
[[nodiscard]] std::string waits_for(const Model& model, const Problem& problem, const FleetNow& fleet,
                                    Timestamp now);

}  // namespace gleaner::service

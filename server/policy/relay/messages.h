// What a relay says to its parent and hears from it, all its hosts' in one. Value types.
#pragma once

#include <optional>
#include <vector>

#include "server/policy/stage/exchange.h"

namespace gleaner::policy {

// Results of some part of one of its units.
struct RelayCommit {
  UnitId unit;
  Range range;
};

struct RelayAsk {
  bool urgent = false;     // some of its hosts have nothing to do
  double performance = 0;  // benchmarks of all slots of its hosts, whether they are on or not
  double rate = 0;         // of those that are on, hint units a second; 0: none has delivered yet
  int slots = 1;           // that are on
};

struct RelayMessage {
  std::vector<RelayCommit> commits;
  std::vector<RelayReport> reports;
  std::optional<RelayAsk> ask;
};

struct RelayGrant {
  UnitId unit;
  Range range;
};

struct RelayReply {
  std::vector<protocol::UnitOrder> orders;
  std::optional<RelayGrant> grant;
  double retry_after = 0;    // seconds until it may ask again, if it asked for nothing
  double interval = 60;      // until it is to say how its units stand
  double stage_seconds = 0;  // that the whole stage takes; 0: not known
  bool dry = false;          // nothing is free above: what its hosts lack they can only take from each other
};

}  // namespace gleaner::policy

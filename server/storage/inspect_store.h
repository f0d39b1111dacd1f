// What a store's rows say of themselves, read and not changed, for whoever looks for damage while no server
// runs (service/upkeep/check.h). Reads stores of earlier schemas, too. One thread.
//
// Errors: not_found (there is no store), invalid (it is so damaged that its engine cannot read it, or it is
// of a newer or an unreleased program: the message says so), io, unavailable (the database cannot be
// reached).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/generation_note.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"
#include "shared/io/files.h"
#include "shared/protocol/access_messages.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::storage {

// A blob that a row names, and for what.
struct BlobUse {
  enum class Kind { archive, input, segment, result };
  std::string digest;
  Kind kind = Kind::segment;
  ProblemId problem;  // not of archives
  int stage = -1;     // of segments and stages' inputs
  Range items;        // of segments
  std::string name;   // NAME@VERSION of archives, the file's name of inputs and results
};

struct InspectedProblem {
  std::string name;
  protocol::ProblemState state = protocol::ProblemState::planning;
  protocol::ProblemState resume_to = protocol::ProblemState::running;
  int stage = 0;
  std::int64_t items = -1;  // of the present stage; -1: it has no row
  std::int64_t accepted = 0, segments = 0;

  [[nodiscard]] bool is_over() const;
  // Its stage is planned, so that there must be a row of it.
  [[nodiscard]] bool has_stage() const;
};

// Items that are marked as accepted, and not from a segment that has them.
struct AcceptedGap {
  ProblemId problem;
  int stage = 0;
  Range items;
};

// A segment that the store keeps, and that is not what it was.
struct DamagedSegment {
  std::string digest;
  ProblemId problem;
  int stage = 0;
  Range items;
  bool gone = false;  // there are no bytes of it
};

// The stored audit log (service/core/acts.h).
struct InspectedActs {
  std::string start, head;  // stored places; empty: none
  std::vector<protocol::Act> acts;
};

struct StoreInspection {
  int schema = 0, schema_known = 0;
  GenerationNote present;
  std::string place;                // what it is called
  std::vector<std::string> broken;  // what the engine finds by reading all of it; empty: all is well
  std::string elsewhere;            // why no server starts on it: its rows are in another place; or empty
  std::map<std::pair<std::string, std::string>, std::int64_t> strays;  // rows of a table without their parent
  std::vector<AcceptedGap> gaps;
  std::int64_t twice = 0;  // accepted ranges that overlap another or the end of their stage
  std::map<ProblemId, InspectedProblem> problems;
  std::int64_t hosts = 0;
  InspectedActs audit;
  std::vector<BlobUse> blobs;
  std::int64_t kept = 0;  // segments in the store
  std::vector<DamagedSegment> damaged;
};

// `url` as for open_store(). REQUIRES: hold_store() holds it.
[[nodiscard]] Result<StoreInspection> inspect_store(const std::string& url, const io::Path& directory);
// Keeps servers away from a store while it lives. conflict, or unavailable of a database: one runs there.
[[nodiscard]] Result<std::shared_ptr<void>> hold_store(const std::string& url, const io::Path& directory);

}  // namespace gleaner::storage

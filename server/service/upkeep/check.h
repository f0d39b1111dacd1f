// A project's directory, looked through while no server runs: the store's rows against themselves, its
// generation against its note, every blob against its digest, blobs against rows and back. Each damage is a
// sentence: what it is, what it means, what to do. Called on one thread; blocks for as long as the disk takes
// to read it all.
//
// What is safe can be mended: results that are lost are free again and computed anew when the server runs,
// as it does itself where it meets such damage (damage.h); what nobody refers to goes. Nothing is mended in a
// store that lost something or that its engine finds broken: what it does not name may be what it forgot.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/service/core/settings.h"
#include "server/storage/blob_inventory.h"
#include "server/storage/inspect_store.h"
#include "server/storage/open_blobs.h"
#include "server/storage/store.h"

namespace gleaner::service {

struct Finding {
  enum class Severity {
    note,      // nothing is lost and nothing has to be done
    mendable,  // --repair mends it, and so does a running server when it meets it
    serious    // somebody has to do something
  };
  std::string kind;  // a word for scripts: "segment-damaged" ...
  Severity severity = Severity::serious;
  std::string message;
  bool mended = false;
};

struct CheckReport {
  std::vector<Finding> findings;
  storage::StoreInspection store;  // empty where it cannot be read
  std::int64_t blobs = 0, blob_bytes = 0;
  std::int64_t blobs_damaged = 0, blobs_missing = 0;  // of those that a row names
  std::int64_t orphans = 0, orphan_bytes = 0;         // that no row names
  bool all_read = true;                               // false: of an object store, only what it lists
  std::vector<std::string> done;                      // what was mended, in words

  // The gravest that is left; note if there is nothing.
  [[nodiscard]] Finding::Severity worst() const;
};

struct CheckOptions {
  bool repair = false;
  storage::Loss loss = storage::Loss::refused;  // as with `run --accept-loss`, and only with `repair`
  std::function<void(std::int64_t done, std::int64_t all)> progress;  // bytes read
  // Where blobs are in an object store: whose keys there are, and whether each object is read, too.
  storage::BlobPlace objects = {};
  bool deep = false;
};

// conflict: a server is running there; invalid: `repair` is for files. Other errors: the check could not be
// made; damage is a finding.
[[nodiscard]] Result<CheckReport> check_project(io::Files& files, const Settings& settings,
                                                const CheckOptions& options, Timestamp now);

// What check_project() knows that its findings do not say, for mending.
struct Damage {
  std::vector<std::string> lost;       // digests of damaged and missing blobs that rows name
  std::vector<std::string> damaged;    // of these, still there
  std::vector<std::string> orphans;    // digests that nobody names
  std::vector<io::Path> strangers;     // files that are no blobs
  std::vector<ProblemId> stages_gone;  // problems whose stage has no row
  bool bundles_gone = false;           // some application's unpacked bundle
};
// Marks the findings that it mended. The caller holds the store no longer.
[[nodiscard]] Status repair_project(io::Files& files, const Settings& settings, const Damage& damage,
                                    storage::Loss loss, Timestamp now, CheckReport& report);

}  // namespace gleaner::service

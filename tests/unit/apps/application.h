// A built application driven through the contract as server and clients do, and the properties that every one
// of them must have (P1 to P5 below).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shared/base/range_set.h"
#include "tests/unit/apps/peer.h"

namespace gleaner::test {

using Items = std::map<std::int64_t, std::string>;
using Files = std::map<std::string, std::string>;

// One problem: its directory, its manager, and as many kernels as are asked for.
class Application {
 public:
  // `bundle`: the name of a directory of build/bundles.
  Application(const std::string& bundle, const std::string& parameters, const Files& inputs = {});

  // Asks for a stage, gives its inputs to the kernels, and keeps the number of items; all lines are returned.
  // What follows is about this stage.
  std::string plan(int stage = 0);
  [[nodiscard]] std::int64_t items() const { return items_; }
  // By a process of its own, with that environment.
  Items compute(Range range, const std::vector<std::string>& environment = {});
  // The most memory of any kernel that computed, and what the manifest promises; bytes.
  [[nodiscard]] std::int64_t kernel_memory() const { return kernel_memory_; }
  [[nodiscard]] std::int64_t promised_memory() const;
  // The manager's answer.
  std::string validate(Range range, const Items& items);
  // From pieces of these ranges, in that order in the list; the results' contents by name. `how`: combine or
  // preview.
  Files combine(const Items& items, std::vector<Range> pieces, const std::string& how = "combine");
  // All files that combine left for the stage after.
  [[nodiscard]] Files combined_files() const;
  // Ends the manager's process and starts another in the same working directory.
  void restart_manager();
  [[nodiscard]] const TemporaryDirectory& directory() const { return directory_; }

 private:
  std::unique_ptr<Peer> start(const std::string& program, const std::vector<std::string>& environment);
  std::string bundle_;
  TemporaryDirectory directory_;
  std::unique_ptr<Peer> manager_;
  int stage_ = 0;
  std::int64_t items_ = 0;
  std::int64_t kernel_memory_ = 0;
};

// P1: the artefact does not depend on the division into units, nor on the order in which they come. P2:
// duplicates change nothing. P3: nor does a restart of the manager. P4: the items cover the work exactly. P5:
// bytes that are cut, longer, or another item's are refused. And each CPU level gives the same bytes, in
// less memory than the manifest says. All of this in each stage. `seed` is printed by a failure.
struct Properties {
  std::string bundle;
  std::string parameters;
  Files inputs;
  std::uint64_t seed = 1;
};
void check_properties(const Properties& properties);

// The answer of the manager to a problem: "ok" or its complaint.
std::string complaint(const std::string& bundle, const std::string& parameters, const Files& inputs = {});

}  // namespace gleaner::test

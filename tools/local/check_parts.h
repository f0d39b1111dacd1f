// The parts of check_bundle(), internal to this module: what they share, the findings, and those that
// look at the bundle's files and parameters, at kernels and at managers. Used by one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/wrap/command.h"
#include "shared/base/random.h"
#include "shared/contract/manager_session.h"
#include "tools/local/check.h"
#include "tools/local/libraries.h"
#include "tools/local/trial.h"

namespace gleaner::local {

// One finding a check: the worst of all stages, the first of equals.
class Findings {
 public:
  void passed(const std::string& check, const std::string& what) { add({check, Verdict::passed, what, {}}); }
  void noted(const std::string& check, const std::string& what, const std::string& advice = {}) {
    add({check, Verdict::noted, what, advice});
  }
  void failed(const std::string& check, const std::string& what, const std::string& advice) {
    add({check, Verdict::failed, what, advice});
  }
  [[nodiscard]] bool has_failed(const std::string& check) const;
  [[nodiscard]] std::vector<Finding> in_order() const;

 private:
  void add(Finding finding);
  std::map<std::string, Finding> findings_;
};

// What everything else is compared with: the stage computed by one kernel from its first item on.
struct Reference {
  int stage = 0;
  contract::StagePlan plan;
  io::Path problem;           // what kernels and managers read
  io::Path manager_snapshot;  // the manager's directory when it had planned this stage
  std::vector<Bytes> items;   // fewer than planned where the manager had enough
  bool enough = false;
  std::int64_t slowest_item = 0;
  double slowest_seconds = 0;
  double seconds = 0;
  std::vector<contract::CombinedFile> files;  // of combining the stage
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(items.size()); }
};

struct CheckContext {
  const LocalBundle& bundle;
  const CheckRequest& request;
  const CheckWorld& world;
  io::Path work;  // absolute
  Random random;
  Findings findings;
  int directories = 0;
  const LocalBundle* native = nullptr;  // with this machine's kernel, beside an emulated one

  // A directory that nobody has worked in.
  [[nodiscard]] io::Path fresh(const std::string& purpose) {
    return work / (purpose + "-" + std::to_string(directories++));
  }
  [[nodiscard]] int threads() const { return bundle.manifest.threads > 0 ? bundle.manifest.threads : 1; }
  // Where results lie that a manager is to combine.
  [[nodiscard]] io::Path segments() const { return work / "segments"; }
  [[nodiscard]] Result<std::unique_ptr<contract::ManagerSession>> manager(const io::Path& problem,
                                                                          const io::Path& directory) const;
  void doing(const std::string& what, double fraction) const { world.on_progress(what, fraction); }
};

// `items` cut at random into `parts` ranges (fewer if there are fewer items), in order.
[[nodiscard]] std::vector<Range> random_cuts(std::int64_t items, std::int64_t parts, Random& random);
void shuffle(std::vector<Range>& ranges, Random& random);
// The items of `range`, framed.
[[nodiscard]] Bytes segment_of(const Reference& reference, Range range);

// What the bundle's files and its manifest say, and what the manager says to other parameters: before
// anything is computed.
class BundleChecks {
 public:
  explicit BundleChecks(CheckContext& context) : context_(context) {}
  void note_confinement();
  // False: a kernel is no program of its platform.
  [[nodiscard]] Result<bool> kernels_are_placed();
  // Which kernels were run; says nothing where there is one only, which was.
  void note_platforms();
  [[nodiscard]] Status unknown_parameter();
  // Given what the manifest says that leaving a parameter out means, the first stage is `plan`, too.
  [[nodiscard]] Status defaults_change_nothing(const contract::StagePlan& plan);
  void interpreter();
  [[nodiscard]] Status needed_libraries_are_there();

 private:
  void note_systems(const SystemNeeds& needs);

  CheckContext& context_;
};

// The kernel again, alone, divided, with other threads and instructions, ended early, killed, saved.
class KernelChecks {
 public:
  KernelChecks(CheckContext& context, const Reference& reference, contract::ManagerSession& manager)
      : context_(context), reference_(reference), manager_(manager) {}
  [[nodiscard]] Status run();

 private:
  enum class Same { yes, no, failed };  // failed: the kernel did, and that was noted
  [[nodiscard]] Status again();
  [[nodiscard]] Status alone();
  [[nodiscard]] Status variants();
  [[nodiscard]] Status divided(int kernels, int parts);
  [[nodiscard]] Status ended_early();
  [[nodiscard]] Status killed();
  [[nodiscard]] Status saved();
  // What this machine's own kernel makes of the items, where another's is emulated.
  [[nodiscard]] Status compared_with_native();
  [[nodiscard]] Trial trial(const std::string& purpose, std::map<std::string, std::string> environment = {},
                            int threads = 0);
  // The first item of the outcome that is not the reference's; -1: all are.
  [[nodiscard]] Result<std::int64_t> first_difference(std::int64_t begin, const std::vector<Bytes>& items);
  [[nodiscard]] Result<bool> agree(std::int64_t item, const Bytes& bytes);
  // Notes a failure of the kernel; true if it did what was asked.
  bool worked(const Trial::Outcome& outcome, const std::string& check, const std::string& when);
  void differs(const std::string& check, std::int64_t item, const std::string& when,
               const std::string& advice);

  CheckContext& context_;
  const Reference& reference_;
  contract::ManagerSession& manager_;
};

// The manager with damaged results, with pieces in any division and order, twice, and started again.
class ManagerChecks {
 public:
  ManagerChecks(CheckContext& context, const Reference& reference)
      : context_(context), reference_(reference) {}
  [[nodiscard]] Status run();

 private:
  struct Division {
    bool parts = false;
    bool shuffled = false;
    bool twice = false;
    bool restarted = false;
    bool overlapping = false;
  };
  [[nodiscard]] Status damaged();
  [[nodiscard]] Status preview();
  [[nodiscard]] Status combined();
  // Empty: the results are the reference's; else how they differ or what failed.
  [[nodiscard]] Result<std::string> combine(const Division& division);
  // A session over a copy of the manager's directory as it was after planning; `directory` is where.
  [[nodiscard]] Result<std::unique_ptr<contract::ManagerSession>> session(io::Path& directory);
  [[nodiscard]] Result<std::vector<contract::Piece>> write_pieces(const std::vector<Range>& ranges,
                                                                  bool overlapping);

  CheckContext& context_;
  const Reference& reference_;
};

// What only a wrapped program has: rows that fail, numbers that are found in its output, a program that
// compares results.
class WrapChecks {
 public:
  WrapChecks(CheckContext& context, const Reference& reference, contract::ManagerSession& manager)
      : context_(context), reference_(reference), manager_(manager) {}
  [[nodiscard]] Status run();

 private:
  // How many rows failed, and why the first one did.
  [[nodiscard]] Status rows(const wrap::Command& command);
  void numbers(const wrap::Command& command);
  // Does it see that an altered output differs?
  [[nodiscard]] Status compare(const wrap::Command& command);

  CheckContext& context_;
  const Reference& reference_;
  contract::ManagerSession& manager_;
};

}  // namespace gleaner::local

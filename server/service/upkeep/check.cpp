#include "server/service/upkeep/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "server/service/core/acts.h"
#include "server/service/core/audit_head.h"
#include "server/storage/object_inventory.h"
#include "shared/base/figures.h"
#include "shared/bundle/bundle.h"

namespace gleaner::service {
namespace {

using Severity = Finding::Severity;
using storage::BlobUse;

constexpr std::size_t named_max = 8;  // of many alike: enough to see where they are

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), named_max); ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > named_max) text += fmt::format(" and {} more", names.size() - named_max);
  return text;
}

std::string ranges_text(const RangeSet& items) {
  std::vector<std::string> texts;
  for (const Range range : items.ranges()) texts.push_back(fmt::format("{}-{}", range.begin, range.end));
  return listed(texts);
}

// One check of one directory.
class Check {
 public:
  Check(io::Files& files, const Settings& settings, const CheckOptions& options)
      : files_(files), settings_(settings), options_(options) {}

  Status run() {
    const io::Path& root = settings_.directory.root();
    const std::string& url = settings_.configuration.store_url;
    TRY_ASSIGN(const auto held, storage::hold_store(url, root));
    auto store = storage::inspect_store(url, root);
    readable_ = store.ok() && store->broken.empty();
    if (!store.ok())
      add("store-unreadable", Severity::serious, store.error().message);
    else
      report_.store = std::move(*store);
    if (readable_) look_at_rows();
    if (!report_.store.broken.empty())
      add("store-broken", Severity::serious,
          fmt::format("{} is broken ({}): rows may be wrong or gone; restore the newest backup",
                      report_.store.place, listed(report_.store.broken)));
    look_at_note();
    if (readable_) look_at_audit_log();
    TRY(look_at_blobs_where_they_are());
    if (readable_) look_at_bundles();
    return {};
  }

  CheckReport report_;
  Damage damage_;
  bool readable_ = false;  // the store; else it is not known what is needed
  bool behind_ = false;    // the store is older than it was

 private:
  void add(std::string kind, Severity severity, std::string message) {
    report_.findings.push_back({std::move(kind), severity, std::move(message)});
  }

  [[nodiscard]] std::string problem_text(ProblemId id) const {
    const auto found = report_.store.problems.find(id);
    return fmt::format("problem {}{}", id.value,
                       found == report_.store.problems.end() ? "" : " (" + found->second.name + ")");
  }

  // Of a problem that goes on, in the stage where it is.
  [[nodiscard]] bool needed(ProblemId id, int stage) const {
    const auto found = report_.store.problems.find(id);
    return found != report_.store.problems.end() && !found->second.is_over() && found->second.stage == stage;
  }

  void look_at_rows() {
    const auto& store = report_.store;
    if (store.schema < store.schema_known)
      add("schema-old", Severity::note,
          fmt::format("the store has schema {}: the next `gleaner-server run` takes it to {}", store.schema,
                      store.schema_known));
    if (!store.elsewhere.empty()) add("moved", Severity::serious, store.elsewhere);
    for (const auto& [tables, count] : store.strays)
      add("row-missing", Severity::serious,
          fmt::format("{} of the table {} belong to rows of {} that are not there: something was lost from "
                      "the store; restore the newest backup",
                      counted(count, "row"), tables.first, tables.second));
    if (store.twice > 0)
      add("accepted-twice", Severity::serious,
          fmt::format("{} of accepted items overlap others or the end of their stage, so that its result "
                      "would be wrong: restore the newest backup",
                      counted(store.twice, "range")));
    for (const auto& [id, problem] : store.problems) {
      if (problem.is_over() || !problem.has_stage() || problem.items >= 0) continue;
      damage_.stages_gone.push_back(id);
      add("stage-missing", Severity::mendable,
          fmt::format("{} has lost the row of its stage {}: the stage is planned again, and all of its "
                      "items are computed again",
                      problem_text(id), problem.stage + 1));
    }
    look_at_gaps();
  }

  void look_at_gaps() {
    std::map<std::pair<ProblemId, int>, RangeSet> lost;
    for (const auto& gap : report_.store.gaps) lost[{gap.problem, gap.stage}].add(gap.items);
    for (const auto& [place, items] : lost) {
      const bool again = needed(place.first, place.second);
      add("segment-row-missing", again ? Severity::mendable : Severity::note,
          fmt::format("{}: items {} of stage {} are accepted from segments that the store does not have{}",
                      problem_text(place.first), ranges_text(items), place.second,
                      again ? ": they are computed again" : ", and nothing needs them any more"));
    }
  }

  void look_at_note() {
    const auto note = storage::read_generation_note(files_, settings_.directory.root());
    if (!note.ok()) {
      behind_ = true;
      add("note-damaged", Severity::serious,
          note.error().message + ". If it is, continue with `gleaner-server run --accept-loss`");
    } else if (readable_ && *note && (*note)->generation > report_.store.present.generation) {
      behind_ = true;
      add("log-lost", Severity::serious,
          fmt::format(
              "the store is older than it was: it has {} transactions, and {} were stored by {}. Its "
              "log (store.sqlite-wal) was removed or cut, or an older copy or replica was put in its "
              "place: bring the newer one back, or continue without the last {} with `gleaner-server run "
              "--accept-loss`",
              report_.store.present.generation, (*note)->generation, utc_text((*note)->at),
              (*note)->generation - report_.store.present.generation));
    }
  }

  void look_at_audit_log() {
    if (behind_) return;  // what was lost with the rest is named above
    const auto noted = read_audit_head(files_, settings_.directory);
    const Status whole = noted.ok() ? check_chain(report_.store.audit, *noted) : Status{noted.error()};
    if (whole.ok()) return;
    add("audit-log", Severity::serious,
        whole.error().message +
            ". Compare it with a backup; `gleaner-server run --accept-loss` starts with the log as it is");
  }

  using Reader = std::function<Result<std::string>(const std::string& digest,
                                                   const std::function<void(std::int64_t)>& read)>;

  [[nodiscard]] Status look_at_blobs_where_they_are() {
    if (!options_.objects.url.empty()) return look_at_objects();
    TRY_ASSIGN(const auto inventory, storage::list_blobs(files_, settings_.directory.root()));
    TRY(look_at_blobs(
        inventory, [this](const std::string& digest, const std::function<void(std::int64_t)>& read) {
          const io::Path path = settings_.directory.root() / "blobs" / digest.substr(0, 2) / digest;
          const auto found = storage::digest_of_file(files_, path, read);
          return found.ok() ? found
                            : Result<std::string>(std::string());  // a file that cannot be read is damaged
        }));
    return {};
  }

  // Whose objects they are is looked at first: what another project's bucket lacks says nothing.
  [[nodiscard]] Status look_at_objects() {
    TRY_ASSIGN(const auto objects, storage::ObjectInventory::open(files_, options_.objects, system_clock()));
    TRY_ASSIGN(const auto secrets, read_secrets(files_, settings_.directory, system_clock().now()));
    const auto owner = objects.owner();
    if (!owner.ok() && owner.error().kind != ErrorKind::not_found) return owner.error();
    if (!owner.ok() || *owner != secrets.project) {
      add("objects-foreign", Severity::serious,
          objects.shown() +
              (owner.ok() ? " has the blobs of another project"
                          : " has no object \"owner\": it is empty, or was emptied") +
              ": correct blobs.url, or bring back what the bucket had");
      return {};
    }
    TRY_ASSIGN(const auto inventory, objects.list());
    report_.all_read = options_.deep;
    Reader reader;
    if (options_.deep)
      reader = [&](const std::string& digest, const std::function<void(std::int64_t)>& read) {
        auto found = objects.digest_of(digest, read);
        if (found.ok() && *found != digest) found = objects.digest_of(digest);  // it may have been the way
        return found;
      };
    return look_at_blobs(inventory, reader);
  }

  // Reads everything once; no reader: nothing.
  [[nodiscard]] Result<std::set<std::string>> damaged_of(const storage::BlobInventory& inventory,
                                                         const Reader& reader) {
    std::set<std::string> damaged;
    std::int64_t read = 0;
    for (const auto& [digest, bytes] : inventory.blobs) report_.blob_bytes += bytes;
    const auto progress = [&](std::int64_t bytes) {
      read += bytes;
      if (options_.progress) options_.progress(read, report_.blob_bytes);
    };
    for (const auto& [digest, bytes] : inventory.blobs) {
      if (!reader) break;
      TRY_ASSIGN(const std::string found, reader(digest, progress));
      if (found != digest) damaged.insert(digest);
    }
    report_.blobs = static_cast<std::int64_t>(inventory.blobs.size());
    return damaged;
  }

  [[nodiscard]] Status look_at_blobs(const storage::BlobInventory& inventory, const Reader& reader) {
    TRY_ASSIGN(const auto damaged, damaged_of(inventory, reader));
    if (!readable_) {
      if (!damaged.empty())
        add("blob-damaged", Severity::serious,
            fmt::format("{} not what their names say any more; what they are for is not known while the "
                        "store cannot be read: {}",
                        counted(std::ssize(damaged), "file of blobs/ is", "files of blobs/ are"),
                        listed({damaged.begin(), damaged.end()})));
      return {};
    }
    std::set<std::string> named;
    for (const auto& use : report_.store.blobs) {
      const bool gone = !inventory.blobs.contains(use.digest);
      const bool first = named.insert(use.digest).second;
      if (!gone && !damaged.contains(use.digest)) continue;
      if (first) {
        ++(gone ? report_.blobs_missing : report_.blobs_damaged);
        damage_.lost.push_back(use.digest);
        if (!gone) damage_.damaged.push_back(use.digest);
      }
      take_use(use, gone);
    }
    for (const auto& segment : report_.store.damaged) {
      damage_.lost.push_back(segment.digest);
      segments_[{segment.problem, segment.stage, segment.gone}].push_back(segment.items);
    }
    tell_of_segments();
    look_at_orphans(inventory, named);
    return {};
  }

  // Where a person finds it, or puts it back.
  [[nodiscard]] std::string where(const std::string& digest) const {
    return options_.objects.url.empty() ? fmt::format("blobs/{}/{}", digest.substr(0, 2), digest)
                                        : fmt::format("the object blobs/{}", digest);
  }

  void take_use(const BlobUse& use, bool gone) {
    const char* how = gone ? "missing" : "damaged";
    const char* what = gone ? "gone" : "damaged";
    switch (use.kind) {
      case BlobUse::Kind::segment:
        segments_[{use.problem, use.stage, gone}].push_back(use.items);
        break;
      case BlobUse::Kind::archive:
        add(std::string("archive-") + how, Severity::serious,
            fmt::format("the archive of {} (blob {}) is {}: no further host can fetch the application; start "
                        "the server and `gleaner-admin app add` the same bundle again",
                        use.name, use.digest, what));
        break;
      case BlobUse::Kind::result:
        add(std::string("result-") + how, Severity::serious,
            fmt::format("the result {} of {} (blob {}) is {}: restore {} from a backup, or add the "
                        "problem again",
                        use.name, problem_text(use.problem), use.digest, what, where(use.digest)));
        break;
      case BlobUse::Kind::input: {
        const auto found = report_.store.problems.find(use.problem);
        const bool needs = found != report_.store.problems.end() && !found->second.is_over() &&
                           (use.stage < 0 || use.stage == found->second.stage);
        add(std::string("input-") + how, needs ? Severity::serious : Severity::note,
            fmt::format("the input {} of {} (blob {}) is {}{}", use.name, problem_text(use.problem),
                        use.digest, what,
                        needs ? fmt::format(": put it back as {}; the problem waits for it, "
                                            "until `gleaner-admin problem resume {}`",
                                            where(use.digest), use.problem.value)
                              : ", and nothing needs it any more"));
      }
    }
  }

  void tell_of_segments() {
    for (const auto& [place, ranges] : segments_) {
      const auto& [problem, stage, gone] = place;
      RangeSet items;
      for (const Range range : ranges) items.add(range);
      const bool again = needed(problem, stage);
      add(gone ? "segment-missing" : "segment-damaged", again ? Severity::mendable : Severity::note,
          fmt::format(
              "{}: {} of stage {} with items {} {}{}", problem_text(problem),
              counted(std::ssize(ranges), "segment"), stage + 1, ranges_text(items),
              std::string(ranges.size() == 1 ? "is " : "are ") + (gone ? "gone" : "damaged"),
              again ? ": what was accepted of them is computed again" : ", and nothing needs them any more"));
    }
  }

  void look_at_orphans(const storage::BlobInventory& inventory, const std::set<std::string>& named) {
    for (const auto& [digest, bytes] : inventory.blobs) {
      if (named.contains(digest)) continue;
      damage_.orphans.push_back(digest);
      report_.orphan_bytes += bytes;
    }
    report_.orphans = static_cast<std::int64_t>(damage_.orphans.size());
    if (report_.orphans > 0)
      add("orphan", Severity::note,
          fmt::format("{} named by no row ({}): uploaded results that were not committed, or remains of "
                      "deleted problems; a running server removes them after a day: {}",
                      counted(report_.orphans, "blob is", "blobs are"), bytes_text(report_.orphan_bytes),
                      listed(damage_.orphans)));
    damage_.strangers = inventory.strangers;
    std::vector<std::string> names;
    for (const auto& path : inventory.strangers) names.push_back(path.string());
    if (!names.empty())
      add("stranger", Severity::note,
          fmt::format("in blobs/ are files that are no blobs, and only take room: {}", listed(names)));
    if (inventory.damaged > 0)
      add("set-aside", Severity::note,
          fmt::format("damaged/ has {} that was found damaged; nothing needs it, and it may be deleted",
                      counted(inventory.damaged, "blob")));
  }

  void look_at_bundles() {
    for (const auto& use : report_.store.blobs) {
      if (use.kind != BlobUse::Kind::archive) continue;
      if (bundle::read_bundle(settings_.directory.bundle(use.digest)).ok()) continue;
      const bool archive = !std::count(damage_.lost.begin(), damage_.lost.end(), use.digest);
      damage_.bundles_gone = damage_.bundles_gone || archive;
      add("bundle-broken", archive ? Severity::mendable : Severity::serious,
          fmt::format("the unpacked bundle of {} (bundles/{}) is not whole{}", use.name, use.digest,
                      archive ? ": it is unpacked again from its archive"
                              : ", and its archive is lost, too: restore one of them from a backup"));
    }
  }

  io::Files& files_;
  const Settings& settings_;
  const CheckOptions& options_;
  std::map<std::tuple<ProblemId, int, bool>, std::vector<Range>> segments_;  // damaged, or gone
};

}  // namespace

Severity CheckReport::worst() const {
  Severity worst = Severity::note;
  for (const auto& finding : findings)
    if (!finding.mended) worst = std::max(worst, finding.severity);
  return worst;
}

Result<CheckReport> check_project(io::Files& files, const Settings& settings, const CheckOptions& options,
                                  Timestamp now) {
  if (options.repair && !options.objects.url.empty())
    return Error{ErrorKind::invalid,
                 "--repair is for blobs in files: what is lost in an object store, a running server "
                 "notices and has computed again"};
  Check check(files, settings, options);
  TRY(check.run());
  CheckReport& report = check.report_;
  if (!options.repair) return std::move(report);
  const bool loses = check.behind_ && options.loss == storage::Loss::refused;
  const bool stray = !report.store.strays.empty() || report.store.twice > 0;
  if (!check.readable_ || loses || stray) {
    report.done.push_back(loses ? "nothing was repaired: what this older store does not name may be what it "
                                  "forgot. With --accept-loss that is given up, too"
                                : "nothing was repaired: the store itself is damaged");
    return std::move(report);
  }
  TRY(repair_project(files, settings, check.damage_, options.loss, now, report));
  return std::move(report);
}

}  // namespace gleaner::service

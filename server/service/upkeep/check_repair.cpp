#include <fmt/format.h>

#include <variant>

#include "server/service/core/bundles.h"
#include "server/service/core/load_model.h"
#include "server/service/upkeep/check.h"
#include "server/service/work/damage.h"
#include "server/service/work/own_items.h"
#include "server/storage/file_blobs.h"
#include "server/storage/open_store.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

// A stage without its row is as if it had never begun.
Status forget_stage(storage::Store& store, ProblemId id, Timestamp now) {
  TRY_ASSIGN(const auto problems, store.problems());
  for (storage::ProblemRow row : problems) {
    if (row.id != id) continue;
    const Range all{0, limits::items_max};
    TRY(store.unaccept(id, row.stage, all));
    TRY_ASSIGN(const auto segments, store.segments_over(id, row.stage, all));
    for (const auto& segment : segments) TRY(store.drop_segment(segment.id));
    TRY_ASSIGN(const auto units, store.open_units(id, row.stage));
    for (policy::Unit unit : units) {
      unit.state = policy::UnitState::cancelled;
      unit.closed = now;
      TRY(store.put_unit(id, row.stage, unit));
    }
    using protocol::ProblemState;
    (row.state == ProblemState::paused ? row.resume_to : row.state) = ProblemState::planning;
    TRY(store.update_problem(row));
  }
  return {};
}

Status mend_rows(storage::Store& store, const Damage& damage, const CheckReport& report, Timestamp now) {
  TRY(store.begin());
  const Status done = [&]() -> Status {
    for (const auto& gap : report.store.gaps) TRY(store.unaccept(gap.problem, gap.stage, gap.items));
    for (const ProblemId id : damage.stages_gone) TRY(forget_stage(store, id, now));
    return store.commit();
  }();
  if (!done.ok()) store.rollback();
  return done;
}

// As a running server does it, but that nothing outside of the store happens.
Status mend_losses(storage::Store& store, io::Files& files, const Settings& settings, const Damage& damage,
                   Timestamp now, CheckReport& report) {
  Settings with_items = settings;
  with_items.make_origin = make_own_items;
  TRY_ASSIGN(Model model, load_model(store, files, with_items, now));
  Effects effects;
  TRY(store.begin());
  Transaction tx{store, model, effects, with_items, now};
  const Status taken = take_damage(tx, damage.lost);
  const Status done = taken.ok() ? store.commit() : taken;
  if (!done.ok()) {
    store.rollback();
    return done;
  }
  for (const Effect& effect : effects.take())
    if (const auto* line = std::get_if<effect::LogLine>(&effect)) report.done.push_back(line->text);
  return {};
}

Status remove_orphans(io::Files& files, const Damage& damage, storage::BlobStore& blobs, Timestamp now,
                      CheckReport& report) {
  for (const auto& digest : damage.orphans) {
    TRY_ASSIGN(const bool removed, blobs.discard(digest, now + std::chrono::hours{24}));
    (void)removed;
  }
  for (const auto& path : damage.strangers) TRY(files.remove_all(path));
  const auto count = damage.orphans.size() + damage.strangers.size();
  if (count > 0) report.done.push_back(fmt::format("removed {} files that nothing refers to", count));
  return {};
}

bool is_mended(const Finding& finding) {
  return finding.severity == Finding::Severity::mendable || finding.kind == "orphan" ||
         finding.kind == "stranger" || finding.kind == "segment-row-missing" || finding.kind == "log-lost" ||
         finding.kind == "note-damaged" || finding.kind == "schema-old";
}

}  // namespace

Status repair_project(io::Files& files, const Settings& settings, const Damage& damage, storage::Loss loss,
                      Timestamp now, CheckReport& report) {
  const io::Path& root = settings.directory.root();
  TRY_ASSIGN(const auto store,
             storage::open_store(settings.configuration.store_url, root,
                                 {storage::OpenCheck::none, loss, [] { return false; }, {}}));
  storage::FileBlobs blobs(files, root);
  TRY(blobs.open());
  for (const auto& digest : damage.damaged) (void)blobs.verify(digest);  // puts it aside
  TRY(mend_rows(*store, damage, report, now));
  if (damage.bundles_gone) {
    TRY_ASSIGN(const auto again, restore_bundles(*store, blobs, settings.directory));
    report.done.insert(report.done.end(), again.begin(), again.end());
  }
  if (!damage.lost.empty()) TRY(mend_losses(*store, files, settings, damage, now, report));
  TRY(remove_orphans(files, damage, blobs, now, report));
  TRY(storage::write_generation_note(files, root, store->generation()));
  for (Finding& finding : report.findings) finding.mended = is_mended(finding);
  return {};
}

}  // namespace gleaner::service

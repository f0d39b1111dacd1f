#include "apps/photons/photons_manager.h"

#include <algorithm>
#include <random>

#include "apps/photons/report.h"

namespace gleaner::photons {
namespace {

bool same(const BlockTally& a, const BlockTally& b) {
  return a.reflected == b.reflected && a.transmitted == b.transmitted && a.absorbed == b.absorbed &&
         a.lost == b.lost && a.gained == b.gained && a.events == b.events;
}

}  // namespace

Status PhotonsManager::check(const kit::Problem& problem) {
  TRY_ASSIGN(settings_, read_settings(problem));
  return {};
}

Result<std::optional<kit::Stage>> PhotonsManager::plan(int stage) {
  if (stage > 0) return std::optional<kit::Stage>{};
  const std::int64_t items = settings_.items();
  kit::Stage planned{items, "batches of photons", {}, {}};
  // All items are alike but the last.
  const auto hint = [&](std::int64_t item) {
    const auto photons = static_cast<double>(settings_.item_range(item).size());
    const double part = photons / static_cast<double>(settings_.item_photons);
    return kit::ItemHint{
        std::max(part, 0.001),
        {static_cast<std::int64_t>(photons), static_cast<std::int64_t>(photons * settings_.photon_events)}};
  };
  constexpr std::int64_t hinted_items_max = 100'000;
  if (items <= hinted_items_max) {
    planned.hints.assign(static_cast<std::size_t>(items), hint(0));
    planned.hints.back() = hint(items - 1);
  }
  return std::optional(std::move(planned));
}

Status PhotonsManager::check_item(std::int64_t item, std::string_view bytes, bool again) const {
  TRY_ASSIGN(const Tallies tallies, decode(bytes, Layout(settings_).size));
  TRY(check_sums(settings_, item, tallies));
  if (!again) return {};
  // One block of it, which the sender cannot foresee.
  std::random_device device;
  const std::int64_t blocks =
      (settings_.item_range(item).size() + settings_.block_photons(item) - 1) / settings_.block_photons(item);
  const std::int64_t block = static_cast<std::int64_t>(device()) % blocks;
  if (same(compute_block(settings_, item, block), block_of(tallies, block))) return {};
  return Error{ErrorKind::invalid, "a block of its photons, computed again, comes out differently"};
}

Result<kit::Validation> PhotonsManager::validate(int stage, kit::SegmentReader& segment) {
  const Range range = segment.range();
  std::random_device device;
  const std::int64_t chosen =
      range.empty() ? -1 : range.begin + static_cast<std::int64_t>(device()) % range.size();
  return kit::check_each(
      segment, stage == 0 ? settings_.items() : 0, "batch",
      [&](std::int64_t item, std::string_view bytes) { return check_item(item, bytes, item == chosen); });
}

Status PhotonsManager::report(kit::ItemSource& items, kit::Output& output) const {
  Sums sums(settings_);
  for (;;) {
    TRY_ASSIGN(const std::optional<kit::Item> item, items.next());
    if (!item) break;
    TRY_ASSIGN(const Tallies tallies, decode(item->bytes, sums.layout().size));
    sums.add(item->index, tallies);
    output.progress(items.fraction());
  }
  if (sums.items() == 0) return Error{ErrorKind::invalid, "there are no items yet"};
  const auto write = [&](const char* name, const char* type, const std::string& text) -> Status {
    TRY(kit::write_file(output.directory() / name, text));
    output.result(name, type);
    return {};
  };
  constexpr const char* table = "text/tab-separated-values";
  constexpr const char* drawing = "image/svg+xml";
  TRY(write("report.txt", "text/plain", text_report(sums)));
  TRY(write("report.json", "application/json", json_report(sums)));
  TRY(write("radius.tsv", table, radius_table(sums)));
  TRY(write("radius.svg", drawing, radius_chart(sums)));
  TRY(write("angle.tsv", table, angle_table(sums)));
  TRY(write("depth.tsv", table, depth_table(sums)));
  TRY(write("depth.svg", drawing, depth_chart(sums)));
  TRY(write("fluence.tsv", table, fluence_table(sums)));
  TRY(draw_fluence(sums, output.directory() / "fluence.png"));
  output.result("fluence.png", "image/png");
  if (!settings_.detects()) return {};
  TRY(write("paths.tsv", table, path_table(sums)));
  TRY(write("paths.svg", drawing, path_chart(sums)));
  if (!settings_.visits) return {};
  TRY(draw_visits(sums, output.directory() / "visits.png"));
  output.result("visits.png", "image/png");
  return {};
}

Status PhotonsManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "photons has one stage: 0"};
  TRY(items.require_all(settings_.items()));
  return report(items, output);
}

Status PhotonsManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "photons has one stage: 0"};
  TRY(items.require_within(settings_.items()));
  return report(items, output);
}

}  // namespace gleaner::photons

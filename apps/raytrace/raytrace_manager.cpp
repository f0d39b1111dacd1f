#include "apps/raytrace/raytrace_manager.h"

#include "apps/kit/rows.h"

namespace gleaner::raytrace {
namespace {

Status check_line(const Picture& picture, const std::string_view bytes) {
  if (bytes.size() == static_cast<std::size_t>(3 * picture.width)) return {};
  return Error{ErrorKind::invalid, "a line has " + std::to_string(3 * picture.width) + " bytes, not " +
                                       std::to_string(bytes.size())};
}

}  // namespace

Status RaytraceManager::check(const kit::Problem& problem) {
  TRY_ASSIGN(renderer_, Renderer::load(problem));
  return {};
}

Result<std::optional<kit::Stage>> RaytraceManager::plan(int stage) {
  if (stage > 0) return std::optional<kit::Stage>{};
  return std::optional(kit::Stage{renderer_->picture().height, "lines", renderer_->estimate_costs(), {}});
}

Result<kit::Validation> RaytraceManager::validate(int stage, kit::SegmentReader& segment) {
  const Picture& picture = renderer_->picture();
  return kit::check_each(
      segment, stage == 0 ? picture.height : 0, "line",
      [&](std::int64_t /*line*/, std::string_view bytes) { return check_line(picture, bytes); });
}

Status RaytraceManager::draw(kit::ItemSource& items, kit::Output& output) const {
  const Picture& picture = renderer_->picture();
  return kit::draw_rows(items, output, picture.width, picture.height,
                        [&](const kit::Item& line) -> Result<Bytes> {
                          TRY(check_line(picture, line.bytes));
                          return line.bytes;
                        });
}

Status RaytraceManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "raytrace has one stage: 0"};
  TRY(items.require_all(renderer_->picture().height));
  return draw(items, output);
}

Status RaytraceManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "raytrace has one stage: 0"};
  TRY(items.require_within(renderer_->picture().height));
  return draw(items, output);
}

}  // namespace gleaner::raytrace

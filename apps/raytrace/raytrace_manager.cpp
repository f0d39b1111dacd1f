#include "apps/raytrace/raytrace_manager.h"

#include <random>

#include "apps/kit/rows.h"

namespace gleaner::raytrace {
namespace {

constexpr std::int64_t quick_rays = 2000;  // from the eye: a line of so few takes milliseconds

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
  return std::optional(kit::Stage{renderer_->items(), "lines", renderer_->estimate_costs(), {}});
}

Status RaytraceManager::check_again(std::int64_t item, std::string_view bytes) const {
  const Picture& picture = renderer_->picture();
  bool same = false;
  if (picture.width * picture.samples <= quick_rays) {
    kit::ItemContext quiet;
    same = renderer_->line(item, quiet) == bytes;
  } else {
    std::random_device device;
    const std::int64_t column = static_cast<std::int64_t>(device()) % picture.width;
    same = bytes.substr(static_cast<std::size_t>(3 * column), 3) == renderer_->pixel(item, column);
  }
  if (same) return {};
  return Error{ErrorKind::invalid, "computed again, it comes out differently"};
}

Result<kit::Validation> RaytraceManager::validate(int stage, kit::SegmentReader& segment) {
  const Picture& picture = renderer_->picture();
  const Range range = segment.range();
  std::random_device device;
  const std::int64_t chosen =
      range.empty() ? -1 : range.begin + static_cast<std::int64_t>(device()) % range.size();
  return kit::check_each(segment, stage == 0 ? renderer_->items() : 0, "line",
                         [&](std::int64_t item, std::string_view bytes) -> Status {
                           TRY(check_line(picture, bytes));
                           return item == chosen ? check_again(item, bytes) : Status();
                         });
}

Status RaytraceManager::draw(kit::ItemSource& items, kit::Output& output) const {
  const Picture& picture = renderer_->picture();
  const Animation& animation = renderer_->animation();
  const auto colours = [&](const kit::Item& line) -> Result<Bytes> {
    TRY(check_line(picture, line.bytes));
    return line.bytes;
  };
  if (animation.frames == 1) return kit::draw_rows(items, output, picture.width, picture.height, colours);
  return kit::draw_frames(
      items, output, {picture.width, picture.height, animation.first, animation.frame_milliseconds}, colours);
}

Status RaytraceManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "raytrace has one stage: 0"};
  TRY(items.require_all(renderer_->items()));
  return draw(items, output);
}

Status RaytraceManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "raytrace has one stage: 0"};
  TRY(items.require_within(renderer_->items()));
  return draw(items, output);
}

}  // namespace gleaner::raytrace

#include "apps/raytrace/raytrace_manager.h"

#include "apps/kit/png.h"

namespace gleaner::raytrace {
namespace {

constexpr char missing_grey = 0x28;

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
  using Verdict = kit::Validation::Verdict;
  if (stage != 0 || segment.range().end > renderer_->picture().height) {
    return kit::Validation{Verdict::invalid, "there are no such lines"};
  }
  while (const auto item = segment.next()) {
    if (const Status line = check_line(renderer_->picture(), item->bytes); !line.ok()) {
      return kit::Validation{Verdict::invalid,
                             line.error().within("line " + std::to_string(item->index)).message};
    }
  }
  return kit::Validation{};
}

Status RaytraceManager::draw(kit::ItemSource& items, kit::Output& output) const {
  const Picture& picture = renderer_->picture();
  TRY_ASSIGN(kit::PngWriter file,
             kit::PngWriter::create(output.directory() / "image.png", picture.width, picture.height));
  const Bytes missing(static_cast<std::size_t>(3 * picture.width), missing_grey);
  std::int64_t row = 0;
  for (;;) {
    TRY_ASSIGN(const std::optional<kit::Item> item, items.next());
    for (; row < (item ? item->index : picture.height); ++row) TRY(file.write_row(missing));
    if (!item) break;
    TRY(check_line(picture, item->bytes));
    TRY(file.write_row(item->bytes));
    ++row;
    output.progress(items.fraction());
  }
  TRY(file.finish());
  output.result("image.png", "image/png");
  return {};
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

#include "apps/wrap/wrap_manager.h"

#include <numeric>

namespace gleaner::wrap {

Status WrapManager::check(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  TRY(parameters.finish());
  TRY_ASSIGN(inputs_, read_inputs(problem));
  bytes_.clear();
  for (const std::string& name : inputs_) {
    TRY_ASSIGN(const std::filesystem::path path, problem.input_path(name));
    std::error_code failure;
    const auto size = std::filesystem::file_size(path, failure);
    if (failure) return Error{ErrorKind::io, "cannot read input " + name + ": " + failure.message()};
    bytes_.push_back(static_cast<std::int64_t>(size));
  }
  return {};
}

// Costs are by size: the best guess about a program that nobody knows.
Result<std::optional<kit::Stage>> WrapManager::plan(int stage) {
  if (stage > 0) return std::optional<kit::Stage>{};
  kit::Stage planned{count(), "files", {}, {}};
  const double mean = std::accumulate(bytes_.begin(), bytes_.end(), 1.0) / static_cast<double>(bytes_.size());
  for (const std::int64_t bytes : bytes_)
    planned.hints.push_back({(static_cast<double>(bytes) + 1) / (mean + 1), {bytes}});
  return std::optional(std::move(planned));
}

Result<kit::Validation> WrapManager::validate(int stage, kit::SegmentReader& segment) {
  return kit::check_each(segment, stage == 0 ? count() : 0, "item",
                         [&](std::int64_t item, std::string_view bytes) -> Status {
                           TRY(unseal(inputs_[static_cast<std::size_t>(item)], bytes));
                           return {};
                         });
}

Status WrapManager::write(kit::ItemSource& items, kit::Output& output) const {
  for (;;) {
    TRY_ASSIGN(const auto item, items.next());
    if (!item) return {};
    const std::string& name = inputs_[static_cast<std::size_t>(item->index)];
    TRY_ASSIGN(const std::string_view content, unseal(name, item->bytes));
    TRY(kit::write_file(output.directory() / (name + command_.suffix), content));
    output.result(name + command_.suffix, "application/octet-stream");
    output.progress(items.fraction());
  }
}

Status WrapManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "a wrapped program has one stage: 0"};
  TRY(items.require_all(count()));
  return write(items, output);
}

Status WrapManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "a wrapped program has one stage: 0"};
  TRY(items.require_within(count()));
  return write(items, output);
}

}  // namespace gleaner::wrap

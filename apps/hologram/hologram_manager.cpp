#include "apps/hologram/hologram_manager.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "apps/hologram/artefacts.h"
#include "apps/hologram/parts.h"
#include "apps/hologram/tiles.h"

namespace gleaner::hologram {
namespace {

constexpr std::int64_t whole_one_in = 16;  // segments: one of its items is computed again as a whole
constexpr const char* energies_file = "energies.txt";
constexpr const char* parts_directory = "parts";

std::filesystem::path directory_of(int stage) {
  return "stage-" + std::to_string(stage);
}

bool all_finite(std::string_view bytes) {
  bool finite = true;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    finite &= (bits & 0x7f800000U) != 0x7f800000U;
  }
  return finite;
}

// Of a block of rows.
bool zero_outside(const Layout& layout, Range lines, std::string_view bytes) {
  bool zero = true;
  for_each_run(layout, form_of(layout, 0), 0, bytes, [&](const Run& run) {
    if (!lines.contains(run.row))
      zero &= std::all_of(run.bytes, run.bytes + 8 * run.count, [](char byte) { return byte == 0; });
  });
  return zero;
}

Status write_energies(const std::vector<double>& energies) {
  std::string text;
  for (const double energy : energies) {
    char line[40];
    std::snprintf(line, sizeof line, "%a\n", energy);
    text += line;
  }
  return kit::write_file(directory_of(0) / energies_file, text);
}

Result<std::vector<double>> read_energies(std::size_t views) {
  TRY_ASSIGN(const Bytes text, kit::read_file(directory_of(0) / energies_file, 4096));
  std::istringstream lines(text);
  std::vector<double> energies;
  for (std::string line; std::getline(lines, line);) energies.push_back(std::strtod(line.c_str(), nullptr));
  if (energies.size() != views)
    return Error{ErrorKind::internal, "the file of the views' energies is damaged"};
  return energies;
}

Error no_such_stage(int stage) {
  return {ErrorKind::invalid, "there is no stage " + std::to_string(stage)};
}

}  // namespace

Status HologramManager::check(const kit::Problem& problem) {
  stages_.reset();
  problem_.emplace(problem);
  TRY_ASSIGN(task_, open_task(problem));
  stages_.emplace(*task_, [this](int stage, std::int64_t item) {
    return read_block_file(directory_of(stage - 1) / block_name(stage, item),
                           task_->layout.input_bytes(stage));
  });
  return {};
}

Result<std::optional<kit::Stage>> HologramManager::plan(int stage) {
  const Layout& layout = task_->layout;
  // The stage before is combined: nobody needs its inputs any more.
  if (stage > 1) remove_blocks(layout, stage - 1, directory_of(stage - 2));
  std::error_code ignored;  // what stays only takes room until the problem is deleted
  if (stage > 0) std::filesystem::remove_all(parts_directory, ignored);
  if (stage >= layout.stages()) return std::optional<kit::Stage>{};
  const bool columns = Layout::of_columns(stage);
  kit::Stage planned;
  planned.items = layout.items(stage);
  planned.name = stage == 0 ? "rows" : columns ? "columns" : "rows back";
  // Equal costs but for what a column costs more than a row: within a stage all are alike.
  const std::vector<std::int64_t> size{columns ? layout.rows() : layout.columns(),
                                       columns ? layout.block_columns() : layout.block_rows()};
  planned.hints.assign(static_cast<std::size_t>(planned.items), kit::ItemHint{1, size});
  if (stage == 0 && task_->settings.synthetic == Synthetic::none) {
    TRY_ASSIGN(const std::filesystem::path input, problem_->input_path(input_name));
    TRY_ASSIGN(planned.inputs, write_parts(task_->settings, layout, input, parts_directory));
  }
  // Every stage transforms all pixels once.
  planned.ahead = static_cast<double>(planned.items) * (layout.stages() - stage - 1);
  if (stage > 0) planned.inputs = block_inputs(layout, stage, directory_of(stage - 1));
  return std::optional(std::move(planned));
}

std::int64_t HologramManager::below(std::int64_t bound) {
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
}

Status HologramManager::check_item(int stage, std::int64_t item, bool whole, std::string_view bytes) {
  const Layout& layout = task_->layout;
  const auto invalid = [](const std::string& why) { return Error{ErrorKind::invalid, why}; };
  if (static_cast<std::int64_t>(bytes.size()) != layout.item_bytes(stage))
    return invalid("it has " + std::to_string(bytes.size()) + " bytes, not " +
                   std::to_string(layout.item_bytes(stage)));
  if (!all_finite(bytes)) return invalid("it holds numbers that are not finite");
  if (whole) {
    kit::ItemContext quiet;
    TRY_ASSIGN(const Bytes expected, stages_->compute(stage, item, quiet));
    return expected == bytes ? Status{} : invalid("computed again, it is different");
  }
  const bool columns = Layout::of_columns(stage);
  Range lines{0, columns ? layout.block_columns() : layout.block_rows()};
  if (stage == 0) {
    lines = layout.window_lines(layout.place(0, item));
    if (!zero_outside(layout, lines, bytes)) return invalid("it is not zero outside the window");
  }
  const std::int64_t line = lines.begin + below(lines.size());
  TRY_ASSIGN(const bool same, stages_->has_line(stage, item, line, bytes));
  if (same) return {};
  return invalid(std::string(columns ? "column " : "row ") + std::to_string(line) +
                 " of it, computed again, is different");
}

Result<kit::Validation> HologramManager::validate(int stage, kit::SegmentReader& segment) {
  const Range range = segment.range();
  const bool one_whole = !range.empty() && below(whole_one_in) == 0;
  const std::int64_t whole = one_whole ? range.begin + below(range.size()) : -1;
  Status broken;  // our own disk's fault, not the result's
  const kit::Validation verdict = kit::check_each(
      segment, task_->layout.items(stage), "block", [&](std::int64_t item, std::string_view bytes) {
        Status checked = check_item(stage, item, item == whole, bytes);
        if (!checked.ok() && checked.error().kind != ErrorKind::invalid) broken = checked;
        return checked;
      });
  TRY(broken);
  return verdict;
}

Status HologramManager::finish(int stage, kit::ItemSource& items, kit::Output& output) {
  const Layout& layout = task_->layout;
  TRY_ASSIGN(const std::vector<double> energies, read_energies(layout.views().size()));
  // Blocks of rows are what is drawn. They are the items, or made of them.
  Artefacts artefacts(*task_);
  if (Layout::of_columns(stage)) {
    constexpr double part = 0.6;
    const Bytes end = block_end(task_->pixels->rows(), task_->pixels->columns());
    TRY(write_blocks(layout, stage, end, items, output, part, {}));
    const std::int64_t blocks = layout.row_blocks() * static_cast<std::int64_t>(layout.views().size());
    for (std::int64_t item = 0; item < blocks; ++item) {
      const std::int64_t bytes = layout.column_blocks() * layout.tile_pixels() * layout.pixel_bytes(stage);
      TRY_ASSIGN(const Bytes block, read_block_file(output.directory() / block_name(stage + 1, item), bytes));
      artefacts.take(static_cast<std::size_t>(item / layout.row_blocks()), item % layout.row_blocks(), block,
                     output);
      output.progress(part + (1 - part) * static_cast<double>(item) / static_cast<double>(blocks));
    }
    remove_blocks(layout, stage + 1, output.directory());
  } else {
    TRY(for_each_item(layout, stage, items, [&](Place place, const kit::Item& item) -> Status {
      artefacts.take(place.view, place.block, item.bytes, output);
      output.progress(items.fraction());
      return {};
    }));
  }
  return artefacts.finish(energies, output);
}

Status HologramManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  const Layout& layout = task_->layout;
  if (stage >= layout.stages()) return no_such_stage(stage);
  TRY(items.require_all(layout.items(stage)));
  const Bytes end = block_end(task_->pixels->rows(), task_->pixels->columns());
  if (layout.last(stage)) {
    TRY(finish(stage, items, output));
  } else if (stage == 0) {
    // [Parseval] the transform of a row has `columns` times its energy.
    std::vector<double> energies(layout.views().size(), 0.0);
    TRY(write_blocks(layout, stage, end, items, output, 1, [&](std::int64_t item, std::string_view bytes) {
      energies[layout.place(0, item).view] += energy_of(bytes) / static_cast<double>(layout.columns());
    }));
    TRY(write_energies(energies));
  } else {
    TRY(write_blocks(layout, stage, end, items, output, 1, {}));
  }
  return {};
}

Status HologramManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  const Layout& layout = task_->layout;
  if (stage >= layout.stages()) return no_such_stage(stage);
  TRY(items.require_within(layout.items(stage)));
  Pictures pictures(*task_, stage, form_of(layout, stage));
  TRY(for_each_item(layout, stage, items, [&](Place place, const kit::Item& item) -> Status {
    pictures.take(place.view, place.block, item.bytes);
    output.progress(items.fraction());
    return {};
  }));
  return pictures.write(output);
}

}  // namespace gleaner::hologram

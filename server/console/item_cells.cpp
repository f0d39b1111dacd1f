#include "server/console/item_cells.h"

#include <algorithm>

namespace gleaner::console {

ItemCounter::ItemCounter(std::int64_t items, std::int64_t cells_max)
    : items_(items), per_cell_(std::max<std::int64_t>(1, (items + cells_max - 1) / cells_max)) {
  const auto cells = static_cast<std::size_t>((items_ + per_cell_ - 1) / per_cell_);
  accepted_.resize(cells);
  held_.resize(cells);
  aside_.resize(cells);
  holders_.resize(cells);
  most_.resize(cells);
}

template <typename Each>
void ItemCounter::visit(Range range, Each each) const {
  range = intersection(range, {0, items_});
  while (!range.empty()) {
    const std::int64_t cell = range.begin / per_cell_;
    const std::int64_t end = std::min(range.end, (cell + 1) * per_cell_);
    each(static_cast<std::size_t>(cell), end - range.begin);
    range.begin = end;
  }
}

std::int64_t ItemCounter::size_of(std::size_t cell) const {
  const auto begin = static_cast<std::int64_t>(cell) * per_cell_;
  return std::min(per_cell_, items_ - begin);
}

void ItemCounter::accept(Range range) {
  visit(range, [this](std::size_t cell, std::int64_t items) { accepted_[cell] += items; });
}

void ItemCounter::put_aside(Range range) {
  visit(range, [this](std::size_t cell, std::int64_t items) { aside_[cell] += items; });
}

void ItemCounter::hold(Range range, HostId host) {
  visit(range, [&](std::size_t cell, std::int64_t items) {
    held_[cell] += items;
    if (items <= most_[cell]) return;
    most_[cell] = items;
    holders_[cell] = host;
  });
}

ItemCells ItemCounter::cells() && {
  ItemCells cells;
  cells.items_per_cell = per_cell_;
  const auto percent = [](std::int64_t part, std::int64_t all) {
    const auto share = static_cast<int>(part * 100 / all);
    return part > 0 ? std::max(1, share) : 0;
  };
  for (std::size_t i = 0; i < accepted_.size(); ++i) {
    const std::int64_t all = size_of(i);
    const int accepted = percent(std::min(accepted_[i], all), all);
    const int aside = std::min(percent(std::min(aside_[i], all), all), 100 - accepted);
    const std::int64_t rest = std::max<std::int64_t>(0, all - accepted_[i] - aside_[i]);
    const int held = std::min(percent(std::min(held_[i], rest), all), 100 - accepted - aside);
    cells.accepted.push_back(accepted);
    cells.set_aside.push_back(aside);
    cells.held.push_back(held);
  }
  cells.holders = std::move(holders_);
  return cells;
}

}  // namespace gleaner::console

#include "server/storage/table_changes.h"

#include <future>
#include <optional>
#include <utility>

namespace gleaner::storage {
namespace {

// As many are read before the other thread looks at them.
constexpr std::size_t rows_a_turn = 20'000;
// A range goes over as many rows that have not changed, rather than ending: to ask for another one takes as
// long as to copy them.
constexpr std::int64_t unchanged_max = 16;
constexpr std::int64_t rows_a_range = 1000;

// All rows of one place.
struct Group {
  Place place;
  TableSum sum;
};

// Of a table, in their order.
class Groups {
 public:
  Groups(Connection& connection, const WholeTable& table)
      : table_(table), query_(connection.query(table.rows)) {}

  Result<std::optional<Group>> next() {
    auto group = std::exchange(begun_, std::nullopt);
    while (!ended_) {
      TableSum sum;
      TRY_ASSIGN(const auto place, next_row(table_, query_, sum));
      ended_ = !place;
      if (ended_) break;
      if (group && group->place != *place) {
        begun_ = {*place, sum};
        break;
      }
      if (group)
        group->sum.add(sum);
      else
        group = {*place, sum};
      if (table_.one_a_place()) break;
    }
    return group;
  }

  // None: there are none left.
  Result<std::vector<Group>> next_turn() {
    std::vector<Group> groups;
    while (groups.size() < rows_a_turn) {
      TRY_ASSIGN(const auto group, next());
      if (!group) break;
      groups.push_back(*group);
    }
    return groups;
  }

 private:
  const WholeTable& table_;
  Query query_;
  std::optional<Group> begun_;
  bool ended_ = false;
};

class Comparison {
 public:
  Comparison(Connection& to, const WholeTable& table) : table_(table), there_(to, table) {}

  Status begin() { return advance(); }

  // REQUIRES: after those before it.
  Status take(const Group& group) {
    while (present_ && present_->place < group.place) TRY(remove_present());
    changes_.sum.add(group.sum);
    if (!present_ || present_->place != group.place) {
      put(group);
      return {};
    }
    if (present_->sum == group.sum) {
      changes_.same += group.sum.rows;
      between_.sum.add(group.sum);
      removing_ = false;
      return advance();
    }
    put(group);
    // Where a place has one row, what is put replaces it, whatever refers to it.
    if (!table_.one_a_place()) return remove_present();
    removing_ = false;
    return advance();
  }

  Result<TableChanges> end() {
    while (present_) TRY(remove_present());
    return std::move(changes_);
  }

 private:
  Status advance() {
    TRY_ASSIGN(present_, there_.next());
    return {};
  }

  Status remove_present() {
    if (!std::exchange(removing_, true)) changes_.removed.push_back({present_->place, {}, {}});
    changes_.removed.back().last = present_->place;
    return advance();
  }

  void put(const Group& group) {
    auto& ranges = changes_.put;
    const bool goes_on = !ranges.empty() && between_.sum.rows <= unchanged_max &&
                         ranges.back().sum.rows + between_.sum.rows < rows_a_range;
    if (goes_on)
      ranges.back().sum.add(between_.sum);
    else
      ranges.push_back({group.place, {}, {}});
    ranges.back().last = group.place;
    ranges.back().sum.add(group.sum);
    between_ = {};
  }

  const WholeTable& table_;
  Groups there_;
  std::optional<Group> present_;  // there
  TableChanges changes_;
  Group between_;          // what has not changed since the last range
  bool removing_ = false;  // what was there last is in the last range of what is removed
};

}  // namespace

Result<TableChanges> find_changes(Connection& from, Connection& to, const WholeTable& table,
                                  const std::function<void(std::int64_t rows)>& rows_read) {
  Groups here(from, table);
  Comparison comparison(to, table);
  const auto read = [&here] { return here.next_turn(); };
  auto next = std::async(std::launch::async, read);
  TRY(comparison.begin());
  for (;;) {
    TRY_ASSIGN(const auto groups, next.get());
    if (groups.empty()) return comparison.end();
    next = std::async(std::launch::async, read);
    std::int64_t rows = 0;
    for (const Group& group : groups) {
      TRY(comparison.take(group));
      rows += group.sum.rows;
    }
    rows_read(rows);
  }
}

}  // namespace gleaner::storage

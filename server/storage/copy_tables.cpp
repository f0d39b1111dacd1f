#include "server/storage/copy_tables.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "server/storage/all_tables.h"
#include "server/storage/table_changes.h"
#include "shared/base/failpoint.h"

namespace gleaner::storage {
namespace {

constexpr std::int64_t rows_a_transaction = 10'000;

using Step = MoveProgress::Step;

struct Plan {
  const WholeTable& table;
  bool whole;  // nothing is there: all of it is put, and its sum is known then
  TableChanges changes;
};

void add_place(Query& query, const WholeTable& table, const Place& place) {
  for (std::size_t i = 0; i < table.ordered; ++i) query.add(place.numbers[i]);
}

// A query for one row more than there are to be.
std::unique_ptr<Query> rows_of(Connection& connection, const WholeTable& table, const PlaceRange& range) {
  std::unique_ptr<Query> query(new Query(connection.query(table.ordered == 0 ? table.rows : table.range)));
  if (table.ordered == 0) return query;
  add_place(*query, table, range.first);
  add_place(*query, table, range.last);
  query->add(range.sum.rows + 1);
  return query;
}

// The rows that a plan puts, one after the other.
class RowsToPut {
 public:
  RowsToPut(Connection& from, Plan& plan) : from_(from), plan_(plan) {
    if (plan.whole) query_ = std::unique_ptr<Query>(new Query(from.query(plan.table.rows)));
  }

  // False: there are none left.
  Result<bool> next(Query& put) {
    for (;;) {
      if (query_ != nullptr) {
        TRY_ASSIGN(const auto place, next_row(plan_.table, *query_, read_, &put));
        if (place) return true;
        if (plan_.whole) plan_.changes.sum = read_;
      }
      const auto& ranges = plan_.changes.put;
      query_ = nullptr;  // before the same statement is run anew
      if (range_ == ranges.size()) return false;
      query_ = rows_of(from_, plan_.table, ranges[range_++]);
    }
  }

 private:
  Connection& from_;
  Plan& plan_;
  std::unique_ptr<Query> query_;
  std::size_t range_ = 0;
  TableSum read_;
};

std::string told(const TableSum& sum) {
  return std::to_string(sum.rows) + " rows, " + sum.digest_text();
}

class TablesCopy {
 public:
  TablesCopy(Connection& from, Connection& to, const std::function<void(const MoveProgress&)>& progress)
      : from_(from), to_(to), progress_(progress) {}

  Result<MoveReport> run() {
    TRY(timed(Step::finding, [this] { return find(); }));
    TRY(timed(Step::copying, [this] { return copy(); }));
    TRY(timed(Step::comparing, [this] { return compare(); }));
    for (const Plan& plan : plans_) {
      const TableSum& sum = plan.changes.sum;
      report_.tables.push_back({plan.table.table.name, sum.rows, sum.digest_text()});
      report_.rows += sum.rows;
      report_.there += plan.changes.same;
    }
    return std::move(report_);
  }

 private:
  template <typename Work>
  Status timed(Step step, Work work) {
    const std::clock_t processor = std::clock();
    const auto begun = std::chrono::steady_clock::now();
    TRY(work());
    report_.times.push_back({step,
                             std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(),
                             static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC});
    return {};
  }

  void begin(Step step, std::int64_t all) { now_ = {step, 0, all}; }
  void note(std::int64_t rows) {
    now_.done = std::min(now_.done + rows, now_.all);
    progress_(now_);
  }

  Status find() {
    std::int64_t all = 0;
    for (const WholeTable& table : all_tables()) {
      TRY_ASSIGN(const std::int64_t there, count_rows(to_, table));
      plans_.push_back({table, there == 0, {}});
      TRY_ASSIGN(plans_.back().changes.sum.rows, count_rows(from_, table));
      all += plans_.back().changes.sum.rows;
    }
    begin(Step::finding, all);
    for (Plan& plan : plans_) {
      if (plan.whole)
        note(plan.changes.sum.rows);
      else {
        TRY_ASSIGN(plan.changes,
                   find_changes(from_, to_, plan.table, [this](std::int64_t rows) { note(rows); }));
      }
      to_put_ += rows_to_put(plan);
    }
    return {};
  }

  static std::int64_t rows_to_put(const Plan& plan) {
    std::int64_t rows = plan.whole ? plan.changes.sum.rows : 0;
    for (const PlaceRange& range : plan.changes.put) rows += range.sum.rows;
    return rows;
  }

  Status copy() {
    begin(Step::copying, to_put_);
    // Backwards: what refers to a row goes before it.
    for (auto plan = plans_.rbegin(); plan != plans_.rend(); ++plan) TRY(remove(*plan));
    for (Plan& plan : plans_) TRY(put(plan));
    return copy_numbers();
  }

  Status remove(const Plan& plan) {
    const WholeTable& table = plan.table;
    if (plan.changes.removed.empty()) return {};
    return transact(to_, [&]() -> Status {
      for (const PlaceRange& range : plan.changes.removed) {
        const bool one = range.first == range.last;
        Query query = to_.query(one ? table.remove : table.remove_range);
        add_place(query, table, range.first);
        if (!one) add_place(query, table, range.last);
        TRY(query.run());
      }
      return {};
    });
  }

  Status put(Plan& plan) {
    RowsToPut rows(from_, plan);
    for (bool more = true; more;) {
      TRY(transact(to_, [&]() -> Status {
        for (std::int64_t count = 0; count < rows_a_transaction; ++count) {
          Query put = to_.put(plan.table.table);
          TRY_ASSIGN(more, rows.next(put));
          if (!more) return {};
          TRY(put.run());
          note(1);
        }
        return {};
      }));
      TRY(failpoint("move-copied"));
    }
    return {};
  }

  // The numbers that were given, those of rows that are gone included.
  Status copy_numbers() {
    return transact(to_, [&]() -> Status {
      for (const Table* const table : numbered_tables()) {
        TRY_ASSIGN(const std::int64_t next, from_.next_number(*table));
        TRY(to_.note_number(*table, next - 1));
      }
      return {};
    });
  }

  Status compare() {
    begin(Step::comparing, to_put_);
    for (const Plan& plan : plans_) {
      if (plan.whole) {
        TRY_ASSIGN(const TableSum sum, sum_of(to_, plan.table, [this] { note(1); }));
        TRY(check(plan, plan.changes.sum, sum));
      }
      for (const PlaceRange& range : plan.changes.put) {
        const auto query = rows_of(to_, plan.table, range);
        TableSum sum;
        for (;;) {
          TRY_ASSIGN(const auto place, next_row(plan.table, *query, sum));
          if (!place) break;
          note(1);
        }
        TRY(check(plan, range.sum, sum));
      }
    }
    return {};
  }

  static Status check(const Plan& plan, const TableSum& wanted, const TableSum& read) {
    if (read == wanted) return {};
    return Error{ErrorKind::invalid,
                 "the table " + plan.table.table.name + " was not copied as it is (" + told(wanted) + "; " +
                     told(read) + "): nothing was given up. Look for damage with `gleaner-server check`"};
  }

  Connection& from_;
  Connection& to_;
  const std::function<void(const MoveProgress&)>& progress_;
  std::vector<Plan> plans_;
  std::int64_t to_put_ = 0;  // rows
  MoveProgress now_;
  MoveReport report_;
};

}  // namespace

Result<MoveReport> copy_tables(Connection& from, Connection& to,
                               const std::function<void(const MoveProgress&)>& progress) {
  return TablesCopy(from, to, progress).run();
}

}  // namespace gleaner::storage

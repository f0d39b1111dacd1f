// A store in a directory of its own, with hosts and a problem that other rows can refer to.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/storage/store.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

namespace gleaner::storage::testing {

// The value, or a failed test with the error's message.
template <typename T>
T must(Result<T> result) {
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

inline std::unique_ptr<Store> open_store(const io::Path& directory, OpenCheck check = OpenCheck::none) {
  return must(open_sqlite_store(directory, check));
}

// Runs `work` in a transaction of its own.
template <typename Work>
void in_transaction(Store& store, Work work) {
  must(store.begin());
  work();
  must(store.commit());
}

inline HostRow simple_host(int number) {
  HostRow row;
  row.name = "host " + std::to_string(number);
  row.public_key = "key " + std::to_string(number);
  row.machine = "machine";
  row.token_digest = "token " + std::to_string(number);
  row.platform = "x86_64-linux";
  return row;
}

struct Grid {
  std::vector<HostId> hosts;
  ApplicationId application;
  ProblemId problem;
};

inline ProblemId add_problem(Store& store, ApplicationId application, const std::string& name) {
  ProblemRow row;
  row.name = name;
  row.application = application;
  row.parameters = "{}";
  row.strategy = "wis";
  return must(store.add_problem(row));
}

// Two hosts, an application, a problem with a stage 0 of 1000 items. REQUIRES: a transaction is open.
inline Grid add_grid(Store& store) {
  Grid grid;
  for (int number = 0; number < 2; ++number) grid.hosts.push_back(must(store.add_host(simple_host(number))));
  ApplicationRow application;
  application.name = "app";
  application.version = "1";
  application.archive = std::string(64, 'a');
  grid.application = must(store.add_application(application));
  grid.problem = add_problem(store, grid.application, "problem");
  StageRow stage;
  stage.problem = grid.problem;
  stage.items = 1000;
  must(store.put_stage(stage));
  return grid;
}

inline SegmentRow simple_segment(const Grid& grid, Range range) {
  SegmentRow row;
  row.problem = grid.problem;
  row.unit = UnitId{1};
  row.host = grid.hosts.front();
  row.range = range;
  row.digest = std::string(64, 'b');
  return row;
}

inline policy::Unit simple_unit(const Grid& grid, UnitId id, Range range) {
  policy::Unit unit;
  unit.id = unit.group = id;
  unit.host = grid.hosts.front();
  unit.range = range;
  unit.committed = unit.finished = range.begin;
  unit.reason = "the first 60 seconds of work at 12.5 items a second, the most that fits in half a lease";
  return unit;
}

}  // namespace gleaner::storage::testing

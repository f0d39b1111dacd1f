// A store with rows in every table.
#pragma once

#include "tests/unit/storage/fixture.h"
#include "tests/unit/storage/rows.h"

namespace gleaner::storage::testing {

// Rows of every table, some thousands of some, with all that a text may hold, and numbers of rows that are
// gone.
inline void fill(Store& store, Random& random, int units = 25'000) {
  in_transaction(store, [&] {
    const Grid grid = add_grid(store);
    must(store.set_value("project", "p"));
    must(store.set_value("bytes", std::string("\0\x1A\xFFz", 4)));
    must(store.delete_problem(add_problem(store, grid.application, "gone")));
    must(store.put_code(random_row<CodeRow>(random)));
    must(store.put_token(random_row<TokenRow>(random)));
    must(store.add_act({1, {}, "a", "owner", "b", "c", "d", std::string(64, '0')}));
    protocol::RefusalCount refusal;
    refusal.actor = "\xC3\xBC\xFF";
    must(store.add_refusals(refusal));
    protocol::Ban ban;
    ban.kind = protocol::BanKind::network;
    ban.subject = "192.0.2.1";
    must(store.put_ban(ban));
    must(store.add_to_day({20'000, 1.5, -0.0, 3}));
    must(store.put_standing(grid.hosts[0], grid.application, {}));
    StageRow stage;
    stage.problem = grid.problem;
    stage.stage = 1;
    for (int i = 0; i < 500; ++i) stage.costs.push_back(random.uniform());
    must(store.put_stage(stage));
    policy::HostRecord record;
    record.host = grid.hosts[1];
    must(store.put_host_record(grid.problem, 0, record));
    for (int i = 0; i < units; ++i)
      must(store.put_unit(grid.problem, 0, simple_unit(grid, must(store.next_unit()), {i, i + 1})));
    for (int i = 0; i < 300; ++i) {
      SegmentRow segment = simple_segment(grid, {i, i + 1});
      segment.place = i % 2 == 0 ? SegmentPlace::store : SegmentPlace::blob;
      if (i % 3 == 0) segment.digest = "no digest";
      must(store.accept_free(grid.problem, 0, {i, i + 1},
                             must(store.add_segment(segment, Bytes(100, static_cast<char>(i))))));
      segment.unit = UnitId{i % 7};
      segment.digest = i % 5 == 0 ? std::string(64, '0') : i % 5 == 1 ? "" : std::to_string(i);
      must(store.drop_segment(must(store.add_segment(segment, "other"))));
    }
    VerdictRow verdict;
    verdict.problem = grid.problem;
    must(store.add_verdict(verdict));
    FailureRow failure;
    failure.problem = grid.problem;
    must(store.add_failure(failure));
    must(store.add_decision({grid.problem, 0, {}}));
    must(store.put_lease({UnitId{7}, grid.problem, 0, {0, 10}, 12, {}, true, "chain"}));
    must(store.put_delivery({UnitId{8},
                             grid.hosts[0],
                             {0, 1},
                             std::string(64, 'd'),
                             grid.hosts[1],
                             SegmentId{1},
                             grid.problem,
                             0,
                             UnitId{7},
                             5,
                             true,
                             1.5,
                             "said",
                             "",
                             {}}));
    must(store.put_results(grid.problem, {{"a", std::string(64, 'c'), 1, "image/png"}}));
  });
}

}  // namespace gleaner::storage::testing

// What one work cycle costs the store in processor time, on each engine. Not run by default: unit_storage
// "[cost]"
#include <cstdio>
#include <ctime>

#include "tests/catch.h"
#include "tests/unit/storage/fixture.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;

namespace {

constexpr const char* step_names[] = {"close unit", "new unit", "host record", "segment",  "accept",
                                      "decision",   "host",     "look answer", "look unit"};
constexpr std::size_t step_count = std::size(step_names);

double processor_microseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + 1e-3 * static_cast<double>(time.tv_nsec);
}

// Adds up what each step of a cycle takes.
struct Laps {
  double sums[step_count] = {};
  bool good = true;
  double last = 0;
  std::size_t step = 0;

  void start() {
    step = 0;
    last = processor_microseconds();
  }
  void lap(bool ok) {
    const double time = processor_microseconds();
    sums[step++] += time - last;
    last = time;
    good = good && ok;
  }
};

// A host delivers `held` and gets the next unit.
void cycle(Store& store, const Grid& grid, const HostRow& host, policy::Unit& held, Laps& laps) {
  SegmentRow segment = simple_segment(grid, held.range);
  for (std::size_t digit = 0; digit < 16; ++digit)
    segment.digest[digit] = "0123456789abcdef"[(held.id.value * 7919 >> digit) & 15];
  policy::HostRecord record;
  record.host = host.id;
  policy::Unit next = simple_unit(grid, *store.next_unit(), {held.range.end, held.range.end + 10});
  DecisionRow decision{grid.problem, 0, {Timestamp{}, host.id, next.id, "fresh", next.range, next.reason}};
  held.state = policy::UnitState::done;

  laps.start();
  laps.lap(store.put_unit(grid.problem, 0, held).ok());
  laps.lap(store.put_unit(grid.problem, 0, next).ok());
  laps.lap(store.put_host_record(grid.problem, 0, record).ok());
  const auto id = store.add_segment(segment, {});
  laps.lap(id.ok());
  laps.lap(store.accept_free(grid.problem, 0, held.range, *id).ok());
  laps.lap(store.add_decision(decision).ok());
  laps.lap(store.update_host(host).ok());
  laps.lap(store.acknowledgement(held.id, host.id, held.range, "none").ok());
  laps.lap(store.unit(held.id).ok());
  held = next;
}

}  // namespace

TEST_CASE("processor time of a work cycle", "[.][cost]") {
  ON_EVERY_ENGINE;
  const ::gleaner::testing::TemporaryDirectory directory;
  auto store = open_store(directory.path());
  Grid grid;
  in_transaction(*store, [&] { grid = add_grid(*store); });
  HostRow host = simple_host(0);
  host.id = grid.hosts[0];
  policy::Unit held = simple_unit(grid, UnitId{1}, {0, 10});
  in_transaction(*store, [&] { held.id = must(store->next_unit()); });
  for (const int batch : {1, 50, 200}) {
    const int batches = 20'000 / batch / (batch == 1 ? 20 : 1);
    Laps laps;
    const bool in_database = !EngineUnderTest::url(directory.path()).empty();
    const auto database_microseconds = [in_database] {
      return in_database ? 1e6 * PostgresCluster::started().processor_seconds() : 0;
    };
    const double database = database_microseconds();
    const double start = processor_microseconds();
    for (int i = 0; i < batches; ++i) {
      in_transaction(*store, [&] {
        for (int j = 0; j < batch; ++j) cycle(*store, grid, host, held, laps);
      });
    }
    REQUIRE(laps.good);
    const double cycles = batches * batch;
    std::printf("%3d cycles a commit: %5.1f us a cycle", batch, (processor_microseconds() - start) / cycles);
    if (in_database) std::printf(" and %.1f of PostgreSQL", (database_microseconds() - database) / cycles);
    std::printf(";");
    for (std::size_t step = 0; step < step_count; ++step)
      std::printf(" %s %.1f", step_names[step], laps.sums[step] / cycles);
    std::printf("\n");
  }
}

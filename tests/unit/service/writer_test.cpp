// The writer's promises: effects and answers after the sync, nothing after a failure, memory as the disk.
#include "server/service/core/writer.h"

#include "server/service/work/own_items.h"

#include <condition_variable>
#include <mutex>

#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

// A writer on a store of its own, whose effects are noted instead of performed.
struct Bench {
  gleaner::testing::TemporaryDirectory temporary;
  Settings settings{ProjectDirectory(temporary.path()), {}, {}, make_own_items};
  StandingClock clock;
  FailingStore store{must(storage::open_sqlite_store(temporary.path(), storage::OpenCheck::none))};
  std::mutex mutex;
  std::vector<std::string> seen;
  Writer writer{store, settings, io::real_files(), clock};

  explicit Bench(Duration gather = Duration{0}) {
    settings.gather = gather;
    must(writer.reload());
    writer.start(
        [this](std::vector<Effect> effects) {
          for (auto& effect : effects)
            if (auto* line = std::get_if<effect::LogLine>(&effect)) note(line->text);
        },
        [](std::vector<Writer::Answer> answers) {
          for (const auto& answer : answers) answer();
        },
        [](Transaction&) { return Status{}; }, [](Transaction&) { return Status{}; });
  }
  ~Bench() { writer.stop(); }
  void note(const std::string& text) {
    const std::lock_guard lock(mutex);
    seen.push_back(text);
  }
  std::vector<std::string> noted() {
    const std::lock_guard lock(mutex);
    return seen;
  }
  Status run(const Operation& operation) {
    std::promise<Status> done;
    writer.submit(operation, [&](Status status) { return [&done, status] { done.set_value(status); }; });
    return done.get_future().get();
  }
};

Status add_row(Transaction& tx, const std::string& name) {
  storage::HostRow row;
  row.name = name;
  row.public_key = row.token_digest = name;
  row.last_contact = tx.now;
  TRY_ASSIGN(row.id, tx.store.add_host(row));
  tx.model.hosts[row.id] = {row, row.last_contact, {}};
  tx.effects.info("added " + name);
  return {};
}

Operation adding(const std::string& name) {
  return [name](Transaction& tx) { return add_row(tx, name); };
}

}  // namespace

TEST_CASE("effects come after the sync and before the answer") {
  Bench bench;
  std::promise<std::vector<std::string>> at_answer;
  bench.writer.submit(
      [&](Transaction& tx) {
        CHECK(bench.noted().empty());
        return add_row(tx, "one");
      },
      [&](Status status) {
        CHECK(status.ok());
        return [&] { at_answer.set_value(bench.noted()); };
      });
  CHECK(at_answer.get_future().get() == std::vector<std::string>{"added one"});
  CHECK(bench.store.commits() == 1);
}

TEST_CASE("a failed transaction has no effects, and memory forgets it") {
  for (const int call : {1, 2, 3}) {  // begin, add_host, commit
    Bench bench;
    must(bench.run(adding("one")));
    bench.store.fail_at(call);
    const Status failed = bench.run(adding("two"));
    REQUIRE(!failed.ok());
    CHECK(failed.error().kind == ErrorKind::unavailable);
    CHECK(says(failed.error().message, "no space left"));
    CHECK(bench.noted() == std::vector<std::string>{"added one"});
    CHECK(bench.writer.model().hosts.size() == 1);
    must(bench.run(adding("two")));
    CHECK(bench.writer.model().hosts.size() == 2);
    CHECK(bench.noted() == std::vector<std::string>{"added one", "added two"});
  }
}

TEST_CASE("those who wait together share a sync, and its failure") {
  Bench bench;
  std::promise<void> begun, go_on;
  bench.writer.submit(
      [&](Transaction&) -> Status {
        begun.set_value();
        go_on.get_future().wait();
        return {};
      },
      [](Status) { return Writer::Answer{}; });
  begun.get_future().wait();
  constexpr int operations = 50;
  std::vector<std::promise<Status>> answers(operations);
  for (int i = 0; i < operations; ++i)
    bench.writer.submit(adding(std::to_string(i)), [&answers, i](Status status) {
      return [&answers, i, status] { answers[static_cast<std::size_t>(i)].set_value(status); };
    });
  bench.store.fail_at(1 + 1 + 30);  // this batch's commit, begin, and the 30th operation of the next
  go_on.set_value();
  int failed = 0;
  for (auto& answer : answers) failed += !answer.get_future().get().ok();
  CHECK(failed == operations);
  CHECK(bench.writer.model().hosts.empty());
  CHECK(bench.noted().empty());
  CHECK(bench.store.commits() == 1);
}

TEST_CASE(
    "who gathers lets the first through, and the others wait for each other until a batch is full or the "
    "end") {
  Bench bench(std::chrono::hours{1});
  must(bench.run(adding("at once")));
  constexpr int batch = 200;
  std::vector<std::promise<Status>> answers(batch);
  for (int i = 0; i < batch; ++i)
    bench.writer.submit(adding(std::to_string(i)), [&answers, i](Status status) {
      return [&answers, i, status] { answers[static_cast<std::size_t>(i)].set_value(status); };
    });
  for (auto& answer : answers) must(answer.get_future().get());
  CHECK(bench.store.commits() == 2);
  std::atomic<int> done{0};
  for (const char* name : {"two", "three"})
    bench.writer.submit(adding(name),
                        [&](Status status) { return [&done, status] { done += status.ok(); }; });
  CHECK(bench.writer.figures().waiting == 2);
  bench.writer.stop();
  CHECK(done == 2);
  CHECK(bench.store.commits() == 3);
}

TEST_CASE("who gathers waits no longer than he is to") {
  Bench bench(std::chrono::milliseconds{200});
  must(bench.run(adding("one")));
  must(bench.run(adding("two")));
  must(bench.run(adding("three")));
  CHECK(bench.store.commits() == 3);
}

TEST_CASE("the figures tell what waits, since when, what was stored together and what could not be") {
  Bench bench;
  CHECK(bench.writer.figures().idle == Duration{0});
  std::promise<void> begun, go_on, done;
  bench.writer.submit(
      [&](Transaction&) -> Status {
        begun.set_value();
        go_on.get_future().wait();
        return {};
      },
      [](Status) { return Writer::Answer{}; });
  begun.get_future().wait();
  for (int i = 0; i < 3; ++i)
    bench.writer.submit(adding(std::to_string(i)), [&, i](Status) -> Writer::Answer {
      return [&, i] {
        if (i == 2) done.set_value();
      };
    });
  bench.clock.advance(std::chrono::seconds{30});  // the writer hangs
  WriterFigures figures = bench.writer.figures();
  CHECK(figures.waiting == 3);
  CHECK(figures.idle == std::chrono::seconds{30});
  CHECK(figures.batch_operations.count() == 0);
  go_on.set_value();
  done.get_future().wait();
  figures = bench.writer.figures();
  CHECK(figures.waiting == 0);
  CHECK(figures.batch_operations.count() == 2);
  CHECK(figures.batch_operations.sum() == 4);
  CHECK(figures.operation_seconds.counts().back() == 4);  // longer than any bound
  CHECK(figures.operation_seconds.sum() == 120);
  CHECK_FALSE(figures.failing);

  bench.store.fail_at(1);
  CHECK_FALSE(bench.run(adding("four")).ok());
  CHECK(bench.writer.figures().failing);
  must(bench.run(adding("five")));
  CHECK_FALSE(bench.writer.figures().failing);
  CHECK(bench.writer.figures().transactions_failed == 1);
}

TEST_CASE("while the model cannot be read back, everything is refused; then all goes on") {
  Bench bench;
  must(bench.run(adding("one")));
  bench.store.fail_at(3, 4);  // the commit, the reading back, and the readings back of the next two batches
  CHECK(!bench.run(adding("two")).ok());
  CHECK(!bench.run(adding("three")).ok());
  CHECK(!bench.run(adding("four")).ok());
  must(bench.run(adding("five")));
  CHECK(bench.noted() == std::vector<std::string>{"added one", "added five"});
  CHECK(bench.writer.model().hosts.size() == 2);
}

TEST_CASE("what must not be lost is tried again until it is stored, once") {
  Bench bench;
  bench.store.fail_at(1, 3);  // the begin, and the readings back
  bench.writer.submit_surely(adding("job"));
  CHECK(!bench.run([](Transaction&) -> Status { return {}; }).ok());
  bench.store.heal();
  must(bench.run([](Transaction&) -> Status { return {}; }));
  CHECK(bench.noted().empty());
  for (int i = 0; i < 3; ++i) {
    bench.writer.retry();
    must(bench.run([](Transaction&) -> Status { return {}; }));
  }
  CHECK(bench.noted() == std::vector<std::string>{"added job"});
}

TEST_CASE("a job that a failed transaction began or ended is what it was before") {
  Bench bench;
  must(bench.run([](Transaction& tx) -> Status {
    tx.model.underway.jobs.insert(ProblemId{1});
    return {};
  }));
  bench.store.fail_at(2);
  CHECK(!bench
             .run([](Transaction& tx) -> Status {
               tx.model.underway.jobs.erase(ProblemId{1});
               tx.model.underway.jobs.insert(ProblemId{2});
               tx.model.underway.previews.insert(ProblemId{3});
               return {};
             })
             .ok());
  CHECK(bench.writer.model().underway.jobs == std::set<ProblemId>{ProblemId{1}});
  CHECK(bench.writer.model().underway.previews.empty());
}

TEST_CASE("who watches is told of what is submitted, until he watches no more") {
  Bench bench;
  const auto submit = [&] {
    std::promise<void> done;
    bench.writer.submit([](Transaction&) -> Status { return {}; },
                        [&](Status) { return [&] { done.set_value(); }; });
    done.get_future().get();
  };
  int told = 0;
  submit();
  bench.writer.watch([&] { ++told; });
  submit();
  submit();
  CHECK(told == 2);
  bench.writer.watch({});
  submit();
  CHECK(told == 2);
}

TEST_CASE("after stop, what was taken is done and what comes is refused") {
  Bench bench;
  std::atomic<int> done{0};
  for (int i = 0; i < 20; ++i)
    bench.writer.submit(adding(std::to_string(i)),
                        [&](Status status) { return [&done, status] { done += status.ok(); }; });
  bench.writer.stop();
  CHECK(done == 20);
  const Status late = bench.run(adding("late"));
  REQUIRE(!late.ok());
  CHECK(late.error().kind == ErrorKind::unavailable);
  CHECK(says(late.error().message, "shutting down"));
}

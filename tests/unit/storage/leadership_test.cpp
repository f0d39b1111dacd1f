// One server leads: whatever happens to it, the next one takes over, and the former can neither store nor
// acknowledge anything any more.
#include "server/storage/leadership.h"

#include <atomic>
#include <csignal>
#include <thread>

#include "server/storage/postgres.h"
#include "tests/catch.h"
#include "tests/unit/storage/child.h"
#include "tests/unit/storage/fixture.h"

using namespace gleaner;
using namespace gleaner::storage;
using namespace gleaner::storage::testing;
using Catch::Matchers::Contains;
using ::gleaner::testing::TemporaryDirectory;

namespace {

using Steady = std::chrono::steady_clock;

struct Project {
  EngineUnderTest engine{Engine::postgres};
  TemporaryDirectory directory;
  std::string url = EngineUnderTest::url(directory.path());

  [[nodiscard]] Result<std::unique_ptr<Store>> open(std::function<bool()> waits = {},
                                                    std::function<void(const Error&)> lost = {}) const {
    return storage::open_store(url, directory.path(),
                               {OpenCheck::none, Loss::refused, std::move(waits), std::move(lost)});
  }
};

Status store_value(Store& store, const std::string& value) {
  TRY(store.begin());
  TRY(store.set_value("value", value));
  return store.commit();
}

double seconds_since(Steady::time_point then) {
  return std::chrono::duration<double>(Steady::now() - then).count();
}

// A server that leads, says so, and stores what it can; ends with what `lost` was told.
void lead(const Project& project, const Child::Report& report, bool in_transaction_first) {
  std::atomic<bool> lost{false};
  const auto store = project.open({}, [&](const Error& error) {
    report.line("lost: " + error.message);
    lost = true;
  });
  if (!store.ok()) return report.line(store.error().message);
  if (in_transaction_first) {
    if (!(*store)->begin().ok() || !(*store)->set_value("value", "frozen").ok() || !(*store)->hosts().ok())
      return report.line("no transaction");
  }
  report.line("leads");
  // Stopped here by the test.
  while (!lost) ::usleep(1000);
  const Status done = in_transaction_first ? (*store)->commit() : store_value(**store, "woken");
  report.line(done.ok() ? "stored" : "refused");
}

}  // namespace

TEST_CASE("a lock that nobody leads by is no leader, while its connection ends") {
  if (no_postgres()) return;
  const Project project;
  must(project.open()).reset();
  auto ending = must(Postgres::open(project.url));
  must(ending->execute("SELECT pg_advisory_lock(x'476c6e72'::bigint)"));
  std::thread end([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{500});
    ending.reset();
  });
  const auto opened = project.open([] { return false; });
  end.join();
  CHECK(opened.ok());
}

TEST_CASE("a second server waits until the first is gone, or until it is told not to") {
  if (no_postgres()) return;
  const Project project;
  auto first = must(project.open());
  must(store_value(*first, "first"));
  int looks = 0;
  const auto refused = project.open([&looks] { return ++looks < 3; });
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(looks == 3);
  must(store_value(*first, "second"));  // it noticed nothing
  Steady::time_point gone;
  auto second = must(project.open([&] {
    if (first) {
      first.reset();
      gone = Steady::now();
    }
    return true;
  }));
  CHECK(seconds_since(gone) < 0.5);
  CHECK(must(second->get_value("value")) == "second");
}

TEST_CASE("after kill -9 of the leader the next one leads at once") {
  if (no_postgres()) return;
  const Project project;
  Child child([&](const Child::Report& report) { lead(project, report, false); });
  REQUIRE(child.line() == "leads");
  Steady::time_point killed;
  auto next = must(project.open([&] {
    if (killed == Steady::time_point{}) {
      child.kill();
      killed = Steady::now();
    }
    return true;
  }));
  CHECK(seconds_since(killed) < 0.5);
  must(store_value(*next, "next"));
}

TEST_CASE("a leader that stands still is replaced, and stores nothing when it wakes") {
  if (no_postgres()) return;
  const bool in_transaction_first = GENERATE(false, true);
  INFO((in_transaction_first ? "in a transaction" : "between transactions"));
  const Project project;
  Child child([&](const Child::Report& report) { lead(project, report, in_transaction_first); });
  REQUIRE(child.line() == "leads");
  child.signal(SIGSTOP);
  const auto stopped = Steady::now();
  auto next = must(project.open([] { return true; }));
  CHECK(seconds_since(stopped) < 5);
  must(store_value(*next, "next"));
  child.signal(SIGCONT);
  CHECK_THAT(child.line().value(), Contains("lost: "));
  CHECK(child.line() == "refused");
  CHECK(must(next->get_value("value")) == "next");
  must(store_value(*next, "still"));
}

TEST_CASE("a leader whose epoch is over stores and reads nothing, though its connection is whole") {
  if (no_postgres()) return;
  const Project project;
  std::atomic<int> told{0};
  std::string why;
  auto store = must(project.open({}, [&](const Error& error) {
    why = error.message;
    ++told;
  }));
  must(store_value(*store, "before"));
  must(must(Postgres::open(project.url))->execute("UPDATE leader SET epoch = epoch + 1"));
  const bool reads_only = GENERATE(false, true);
  must(store->begin());
  if (!reads_only) must(store->set_value("value", "fenced"));
  const Status done = store->commit();
  REQUIRE(!done.ok());
  CHECK(done.error().kind == ErrorKind::unavailable);
  CHECK_THAT(done.error().message, Contains("another server leads"));
  CHECK(told == 1);
  CHECK_THAT(why, Contains("another server leads"));
  store.reset();
  CHECK(must(must(project.open())->get_value("value")) == "before");
}

TEST_CASE("a leader that does nothing is told by its own beat that another one leads") {
  if (no_postgres()) return;
  const Project project;
  std::atomic<bool> told{false};
  auto store = must(project.open({}, [&](const Error&) { told = true; }));
  must(must(Postgres::open(project.url))->execute("UPDATE leader SET epoch = epoch + 1"));
  const auto since = Steady::now();
  while (!told && seconds_since(since) < 10) ::usleep(10'000);
  CHECK(told);
}

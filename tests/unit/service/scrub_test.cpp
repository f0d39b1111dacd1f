// The slow scrub finds what is damaged or gone, within its bound, goes on after a restart, and says how far
// it is.
#include <sqlite3.h>

#include <filesystem>
#include <thread>

#include "shared/protocol/codec.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::ProblemState;
using service::Transaction;

namespace {

enum class Kept { blobs, store };

// One item a commit, `count` of six.
std::vector<std::string> deliver(World& world, const TestHost& host, int count, Kept kept = Kept::blobs) {
  std::vector<std::string> digests;
  while (true) {
    const auto grant = world.grants(host.id).front();
    for (std::int64_t item = grant.range.begin; item < grant.range.end; ++item) {
      if (item == count) return digests;
      auto request = World::results(grant.unit, {item, item + 1}, item + 1 == grant.range.end);
      if (kept == Kept::blobs) request = world.uploaded(std::move(request));
      REQUIRE(must(world.commit(host.id, request)).status == protocol::CommitStatus::accepted);
      digests.push_back(request.digest);
    }
  }
}

void break_blob(World& world, const std::string& digest) {
  const io::Path path = world.service().kernel().blobs().path(digest);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
}

// To the store's file, beside the running server.
void change_rows(World& world, const std::string& sql) {
  sqlite3* file = nullptr;
  REQUIRE(sqlite3_open((world.directory() / "store.sqlite").c_str(), &file) == SQLITE_OK);
  REQUIRE(sqlite3_exec(file, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_changes(file) == 1);
  sqlite3_close(file);
}

std::string of_digest(const std::string& digest) {
  return " WHERE segment IN (SELECT id FROM segments WHERE digest = x'" + digest + "')";
}

std::string stored(World& world) {
  return *must(World::wait<protocol::ServerStatus>([&](auto done) {
            world.service().overview().status(std::move(done), protocol::Role::view);
          })).stored;
}

// So many seconds pass until one of the texts is there; the scrub reads beside them.
int seconds_until(World& world, const std::string& text, const std::string& other = {}) {
  for (int second = 0; second < 200; ++second) {
    const std::string now = stored(world);
    for (const std::string& wanted : {text, other})
      if (!wanted.empty() && now.find(wanted) != std::string::npos) return second;
    world.tick();
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  FAIL("it never says: " << text << ", but " << stored(world));
  return 0;
}

}  // namespace

TEST_CASE("the scrub finds damaged and missing results by itself, and their items are computed again") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6);
  const auto digests = deliver(world, host, 5);
  CHECK(says(stored(world), "not yet verified in full"));
  break_blob(world, digests[0]);
  std::filesystem::remove(world.service().kernel().blobs().path(digests[3]));
  (void)seconds_until(world, "2 damaged or gone");
  world.settle();
  CHECK(world.show(problem).accepted == 3);
  (void)seconds_until(world, "last verified in full");
  (void)world.memory();
  break_blob(world, digests[1]);
  for (int second = 0; second < 10; ++second) world.tick();
  CHECK(world.show(problem).accepted == 3);  // the next round is tomorrow
  world.clock().advance(std::chrono::hours{25});
  (void)seconds_until(world, "3 damaged or gone");
  world.settle();
  CHECK(world.show(problem).accepted == 2);
}

TEST_CASE("the scrub finds damaged and missing results in the store, and their items are computed again") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6);
  const auto digests = deliver(world, host, 5, Kept::store);
  change_rows(world, "UPDATE segment_bytes SET bytes = zeroblob(length(bytes))" + of_digest(digests[1]));
  change_rows(world, "DELETE FROM segment_bytes" + of_digest(digests[4]));
  (void)seconds_until(world, "2 damaged or gone");
  world.settle();
  CHECK(world.show(problem).accepted == 3);
  (void)seconds_until(world, "last verified in full");
  (void)world.memory();
  for (int slot = 0; world.show(problem).state == ProblemState::running; ++slot) {
    REQUIRE(slot < 20);
    for (const auto& statement : must(world.work(host.id, world.work_request())).grants)
      world.finish(must(protocol::decode<protocol::Grant>(statement.payload)));
    world.settle();
  }
  CHECK(world.show(problem).state == ProblemState::finished);
  const auto result = world.show(problem).results.at(0).digest;
  CHECK(must(world.service().kernel().blobs().read(result, 1000)) == "0 6 0\n");
}

TEST_CASE("the scrub goes on among the results in the store after a restart") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6);
  const auto digests = deliver(world, host, 5, Kept::store);
  for (const int which : {1, 3})
    change_rows(world, "UPDATE segment_bytes SET bytes = x'00'" +
                           of_digest(digests[static_cast<std::size_t>(which)]));
  const auto now = std::to_string(to_microseconds(world.clock().now()));
  must(world.operate(
      [now](Transaction& tx) { return tx.store.set_value("scrub", "segment:2 " + now + " 0"); }));
  world.restart();
  (void)seconds_until(world, "last verified in full");
  world.settle();
  CHECK(says(stored(world), "; 1 damaged or gone"));
  CHECK(world.show(problem).accepted == 4);
}

TEST_CASE("the scrub reads no more a second than it may, and goes on where it was after a restart") {
  World world([](auto& configuration) { configuration.scrub_megabytes_per_second = 1; });
  world.add_application();
  const std::string large(3 << 20, 'x');
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = "{\"count\": 6}";
  for (const char* name : {"one", "two", "three"})
    request.inputs.push_back({name, must(world.service().kernel().blobs().put(large + name)), 0, {}});
  (void)must(world.try_add_problem(request));
  // One of 3 MB at least was read and one is left, wherever the small archive comes between them.
  CHECK(seconds_until(world, "now 2 of 4 files", "now 3 of 4 files") >= 3);
  world.clock().advance(std::chrono::minutes{2});
  const auto written = [&] {
    return world.look<std::string>(
        [](Transaction& tx) { return must(tx.store.get_value("scrub")).value_or(""); });
  };
  const std::string before = written();
  world.tick();
  for (int i = 0; i < 10'000 && written() == before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  REQUIRE(written() != before);  // where it is
  world.restart();
  const int rest = seconds_until(world, "last verified in full");
  CHECK(rest >= 1);
  CHECK(rest <= 9);  // less than from the beginning: that would be some 10 MB
}

TEST_CASE("the scrub can be turned off") {
  World world([](auto& configuration) { configuration.scrub_megabytes_per_second = 0; });
  for (int second = 0; second < 3; ++second) world.tick();
  CHECK(says(stored(world), "not verified"));
}

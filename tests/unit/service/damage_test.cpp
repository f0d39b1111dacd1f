// Stored bytes that change or vanish: what can be computed again is, what cannot is named, and nothing wrong
// is ever combined, shown or served.
#include "server/service/work/damage.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "server/service/core/lost_blobs.h"
#include "server/service/work/reviews.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"
#include "tests/unit/service/log_lines.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::ProblemState;

namespace {

using storage::SegmentPlace;

enum class Harm { changed, cut, gone };

// What the store keeps of the segments with this digest.
void harm_row(World& world, const std::string& digest, Harm how) {
  const std::string which = " WHERE segment IN (SELECT id FROM segments WHERE digest = x'" + digest + "')";
  const std::string sql = how == Harm::gone ? "DELETE FROM segment_bytes" + which
                          : how == Harm::cut
                              ? "UPDATE segment_bytes SET bytes = substr(bytes, 1, length(bytes) - 1)" + which
                              : "UPDATE segment_bytes SET bytes = zeroblob(length(bytes))" + which;
  sqlite3* file = nullptr;
  REQUIRE(sqlite3_open((world.directory() / "store.sqlite").c_str(), &file) == SQLITE_OK);
  REQUIRE(sqlite3_exec(file, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_changes(file) == 1);
  sqlite3_close(file);
}

void harm(World& world, const std::string& digest, Harm how) {
  const io::Path path = world.service().kernel().blobs().path(digest);
  if (!std::filesystem::exists(path)) return harm_row(world, digest, how);
  if (how == Harm::gone) std::filesystem::remove(path);
  if (how == Harm::cut) std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  if (how == Harm::changed) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const char last = static_cast<char>(file.get() ^ 1);
    file.seekp(-1, std::ios::end);
    file.put(last);
  }
}

// Delivers items one by one but the last of all, and returns the digests.
std::vector<std::string> deliver_all_but_last(World& world, const TestHost& host, std::int64_t items,
                                              protocol::Grant& last,
                                              SegmentPlace place = SegmentPlace::store) {
  std::vector<std::string> digests;
  while (true) {
    last = world.grants(host.id).front();
    for (std::int64_t item = last.range.begin; item < last.range.end; ++item) {
      if (item == items - 1) return digests;
      auto request = World::results(last.unit, {item, item + 1}, item + 1 == last.range.end);
      if (place == SegmentPlace::blob) request = world.uploaded(request);
      REQUIRE(must(world.commit(host.id, request)).status == protocol::CommitStatus::accepted);
      digests.push_back(request.digest);
    }
  }
}

void deliver_last(World& world, const protocol::Grant& grant) {
  (void)must(
      world.commit(grant.host, World::results(grant.unit, {grant.range.end - 1, grant.range.end}, true)));
}

void compute_rest(World& world, const TestHost& host, ProblemId problem) {
  for (int round = 0; round < 100; ++round) {
    world.settle();
    if (world.show(problem).state != ProblemState::running) return;
    const auto reply = must(world.work(host.id, world.work_request()));
    for (const auto& statement : reply.grants)
      world.finish(must(protocol::decode<protocol::Grant>(statement.payload)));
  }
  FAIL("it is never over");
}

void compute_to_the_end(World& world, const TestHost& host, ProblemId problem) {
  compute_rest(world, host, problem);
  CHECK(world.show(problem).state == ProblemState::finished);
}

std::string combined_text(World& world, ProblemId problem) {
  const auto results = world.show(problem).results;
  REQUIRE(results.size() == 1);
  return must(world.service().kernel().blobs().read(results[0].digest, 10'000));
}

}  // namespace

TEST_CASE("a segment that is damaged or gone is computed again before its stage is combined") {
  const auto how = GENERATE(Harm::changed, Harm::cut, Harm::gone);
  const auto place = GENERATE(SegmentPlace::blob, SegmentPlace::store);
  const bool restart = GENERATE(false, true);
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6);
  protocol::Grant last;
  const auto digests = deliver_all_but_last(world, host, 6, last, place);
  REQUIRE(digests.size() == 5);
  harm(world, digests[1], how);
  harm(world, digests[3], how);
  if (restart) world.restart();
  deliver_last(world, last);
  world.settle();
  const auto info = world.show(problem);
  CHECK(info.state == ProblemState::running);
  CHECK(info.accepted == 4);
  (void)world.memory();
  compute_to_the_end(world, host, problem);
  // Blobs are pieces of their own; what is in the store is laid out together, and all of it is anew there.
  CHECK(combined_text(world, problem) ==
        (place == SegmentPlace::store ? "0 6 0\n" : "0 1 0\n1 2 1\n2 3 2\n3 4 3\n4 5 4\n5 6 5\n"));
  (void)world.memory();
}

TEST_CASE("what had enough computes on if the result that said so is damaged") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6, ", \"enough\": 1");
  const auto grant = world.grants(host.id).front();
  (void)must(world.change(problem, service::Problems::Action::pause));
  const auto request = World::results(grant.unit, {0, 1});
  REQUIRE(must(world.commit(host.id, request)).status == protocol::CommitStatus::accepted);
  harm(world, request.digest, Harm::changed);
  (void)must(world.change(problem, service::Problems::Action::resume));
  world.settle();
  CHECK(world.show(problem).state == ProblemState::running);
  CHECK(world.show(problem).accepted == 0);
  (void)world.memory();
  compute_to_the_end(world, host, problem);
}

TEST_CASE("a preview of damaged results is refused, and they are computed again") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6);
  protocol::Grant last;
  const auto digests = deliver_all_but_last(world, host, 6, last);
  harm(world, digests[2], Harm::changed);
  const auto shown = World::wait<protocol::Preview>(
      [&](auto done) { world.service().previews().preview(problem, std::move(done)); });
  REQUIRE(!shown.ok());
  CHECK(shown.error().kind == ErrorKind::unavailable);
  world.settle();
  CHECK(world.show(problem).accepted == 4);
  deliver_last(world, last);
  compute_to_the_end(world, host, problem);
}

TEST_CASE("a damaged input stops its problem with what to do, and it goes on when the file is back") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const std::string text = "all that is known";
  const std::string digest = must(world.service().kernel().blobs().put(text));
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = "{\"count\": 3}";
  request.validation = "checks";
  request.inputs.push_back({"facts", digest, 0, {}});
  const ProblemId problem = must(world.try_add_problem(request)).id;
  harm(world, digest, GENERATE(Harm::changed, Harm::gone));
  compute_rest(world, host, problem);
  auto info = world.show(problem);
  CHECK(info.state == ProblemState::stopped);
  CHECK(says(info.message, "input facts is damaged or gone"));
  CHECK(says(info.message, digest));
  CHECK(info.accepted == 3);
  world.restart();
  (void)must(world.change(problem, service::Problems::Action::resume));
  world.settle();
  CHECK(world.show(problem).state == ProblemState::stopped);  // it is still not there
  (void)must(world.service().kernel().blobs().put(text));
  (void)must(world.change(problem, service::Problems::Action::resume));
  world.settle();
  info = world.show(problem);
  CHECK(info.state == ProblemState::finished);
  CHECK(info.message.empty());
}

TEST_CASE("a comparison with a damaged segment blames nobody: its items are computed again") {
  World world;
  world.add_application();
  const TestHost first = world.add_host("first");
  const TestHost second = world.add_host("second");
  const TestHost third = world.add_host("third");
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = "{\"count\": 1}";
  request.validation = "quorum:2";
  const ProblemId problem = must(world.try_add_problem(request)).id;
  const auto grant = world.grants(first.id).front();
  const auto delivered = World::results(grant.unit, {0, 1}, true);
  (void)must(world.commit(first.id, delivered));
  harm(world, delivered.digest, Harm::changed);
  world.settle();
  for (const TestHost& host : {second, third, first, second, third}) {
    world.settle();
    if (world.show(problem).state != ProblemState::running) break;
    const auto reply = must(world.work(host.id, world.work_request()));
    for (const auto& statement : reply.grants) {
      const auto next = must(protocol::decode<protocol::Grant>(statement.payload));
      auto results = World::results(next.unit, next.range, true);
      (void)must(world.commit(host.id, results));
    }
  }
  world.settle();
  CHECK(world.show(problem).state == ProblemState::finished);
  const auto blamed = world.look<std::int64_t>([](gleaner::service::Transaction& tx) {
    std::int64_t all = 0;
    for (const auto& [id, host] : tx.model.hosts) all += host.row.disagreements;
    return all;
  });
  CHECK(blamed == 0);
}

TEST_CASE("damage that cannot be stored changes nothing, and is taken whole later") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6);
  protocol::Grant last;
  const auto digests = deliver_all_but_last(world, host, 6, last);
  with_each_failure(world, [&](World& w) {
    return w.operate([lost = std::vector<std::string>{digests[1], digests[3]}](service::Transaction& tx) {
      return service::take_damage(tx, lost);
    });
  });
  CHECK(world.show(problem).accepted == 3);
  CHECK(world.show(problem).state == ProblemState::running);
  deliver_last(world, last);
  compute_to_the_end(world, host, problem);
}

TEST_CASE("damage to a stage that had enough is taken whole or not at all") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6, ", \"enough\": 1");
  const auto grant = world.grants(host.id).front();
  (void)must(world.change(problem, service::Problems::Action::pause));
  const auto request = World::results(grant.unit, {0, 1});
  REQUIRE(must(world.commit(host.id, request)).status == protocol::CommitStatus::accepted);
  with_each_failure(world, [&](World& w) {
    return w.operate([lost = std::vector<std::string>{request.digest}](service::Transaction& tx) {
      return service::take_damage(tx, lost);
    });
  });
  const auto info = world.show(problem);
  CHECK(info.state == ProblemState::paused);
  CHECK(info.accepted == 0);
  CHECK(info.free == 6);  // also those that it had done without
}

TEST_CASE("a stage that has enough has it after a restart too") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6, ", \"enough\": 1");
  const auto grant = world.grants(host.id).front();
  (void)must(world.change(problem, service::Problems::Action::pause));
  REQUIRE(must(world.commit(host.id, World::results(grant.unit, {0, 1}))).status ==
          protocol::CommitStatus::accepted);
  world.restart();
  CHECK(world.show(problem).free == 0);
  (void)must(world.change(problem, service::Problems::Action::resume));
  world.settle();
  CHECK(world.show(problem).state == ProblemState::finished);
  CHECK(combined_text(world, problem) == "0 1 0\n");
}

TEST_CASE("what cannot be mended is told of: results of what is over, and archives") {
  const gleaner::service::testing::LogLines log;
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(2);
  compute_to_the_end(world, host, problem);
  const std::string result = world.show(problem).results.front().digest;
  const std::string archive = world.look<std::string>(
      [](gleaner::service::Transaction& tx) { return tx.model.applications.begin()->second.row.archive; });
  const std::string before = world.memory();
  (void)world.look<bool>([&](gleaner::service::Transaction& tx) {
    must(gleaner::service::take_damage(tx, {result, archive, crypto::sha256_hex("nobody's")}));
    return true;
  });
  CHECK(world.memory() == before);
  CHECK(log.count("its result pieces.txt is damaged or gone: restore blob " + result) == 1);
  CHECK(log.count("the archive of numbers@1.0.0 is damaged or gone") == 1);
  CHECK(log.count("`gleaner-admin app add`") == 1);
}

TEST_CASE("a comparison that finds damage drops its items only while its stage is the present one") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6);
  protocol::Grant last;
  const auto digests = deliver_all_but_last(world, host, 6, last);
  gleaner::service::effect::Review review;
  review.problem = problem;
  review.range = {0, 2};
  const auto take = [&](const std::string& digest) {
    (void)world.look<bool>([&](gleaner::service::Transaction& tx) {
      must(gleaner::service::take_damage(tx, review, {digest}));
      return true;
    });
    (void)world.memory();
    return world.show(problem).accepted;
  };
  review.stage = 1;
  CHECK(take(crypto::sha256_hex("nobody's")) == 5);
  review.stage = 0;
  review.problem = ProblemId{9};
  CHECK(take(crypto::sha256_hex("nobody's")) == 5);
  review.problem = problem;
  CHECK(take(digests[4]) == 2);  // items 0 and 1, which it was about, and item 4
}

TEST_CASE("damaged blobs are found among others, each once") {
  World world;
  auto& blobs = world.service().kernel().blobs();
  const std::string good = must(blobs.put("good")), bad = must(blobs.put("bad")),
                    gone = must(blobs.put("gone"));
  harm(world, bad, Harm::changed);
  harm(world, gone, Harm::gone);
  auto lost = service::damaged_among(blobs, {good, bad, gone, bad, good});
  std::vector<std::string> expected{bad, gone};
  std::sort(expected.begin(), expected.end());
  CHECK(lost == expected);
  CHECK(service::damaged_among(blobs, {good}).empty());
  CHECK(service::damaged_among(blobs, {}).empty());
}

TEST_CASE("damage that a comparison found is taken whole or not at all, and so is the comparison's end") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6);
  protocol::Grant last;
  const auto digests = deliver_all_but_last(world, host, 6, last);
  service::effect::Review review;
  review.problem = problem;
  review.range = {0, 2};
  with_each_failure(world, [&](World& w) {
    return w.operate(
        [review, lost = std::vector<std::string>{digests[3]}](service::Transaction& tx) -> Status {
          TRY(service::take_damage(tx, review, lost));
          return service::settle_review(tx, review, Error{ErrorKind::untrusted, "stored results are gone"});
        });
  });
  CHECK(world.show(problem).accepted == 2);
  deliver_last(world, last);
  compute_to_the_end(world, host, problem);
}

namespace {

Result<gleaner::service::Download> open_download(World& world, const std::string& digest) {
  return World::wait<gleaner::service::Download>(
      [&](auto done) { world.service().downloads().open(digest, std::move(done)); });
}

}  // namespace

TEST_CASE("what is given out was verified once, and again when it is touched or a day old") {
  World world;
  auto& blobs = world.service().kernel().blobs();
  const std::string digest = must(blobs.put("to be given out"));
  CHECK(must(open_download(world, digest)).bytes == 15);
  const auto now = world.clock().steady();
  CHECK(blobs.verified_since(digest, now));
  world.clock().advance(std::chrono::hours{25});
  CHECK(must(open_download(world, digest)).bytes == 15);
  CHECK(blobs.verified_since(digest, world.clock().steady()));  // read again
  CHECK(blobs.has(digest));                                     // touches it
  CHECK(!blobs.verified_since(digest, now));
  CHECK(must(open_download(world, digest)).bytes == 15);
  harm(world, digest, GENERATE(Harm::changed, Harm::cut));
  const auto refused = open_download(world, digest);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::unavailable);
  CHECK(says(refused.error().message, "is damaged or gone here"));
  CHECK(open_download(world, digest).error().kind == ErrorKind::not_found);  // nobody needs it
}

TEST_CASE("a segment that is found damaged when it is asked for is computed again") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6);
  protocol::Grant last;
  const auto digests = deliver_all_but_last(world, host, 6, last, SegmentPlace::blob);
  harm(world, digests[2], Harm::changed);
  CHECK(!open_download(world, digests[2]).ok());
  CHECK(world.show(problem).accepted == 4);
  deliver_last(world, last);
  compute_to_the_end(world, host, problem);
}

TEST_CASE("an archive that is lost holds its problems until the same bundle is added again") {
  const auto how = GENERATE(Harm::changed, Harm::gone);
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(6);
  const std::string digest = world.look<std::string>(
      [](gleaner::service::Transaction& tx) { return tx.model.applications.begin()->second.row.archive; });
  const Bytes archive = must(world.service().kernel().blobs().read(digest, 1 << 20));
  harm(world, digest, how);
  CHECK(open_download(world, digest).error().kind == ErrorKind::unavailable);
  const auto info = world.show(problem);
  CHECK(info.state == ProblemState::stopped);
  CHECK(says(info.message, "`gleaner-admin app add` the same bundle again"));
  CHECK(must(world.work(host.id, world.work_request())).grants.empty());
  (void)world.memory();
  CHECK(open_download(world, digest).error().kind == ErrorKind::unavailable);  // still, and said only once
  world.add_application();                                                     // which uploads it
  CHECK(world.show(problem).state == ProblemState::running);
  CHECK(must(open_download(world, digest)).bytes == static_cast<std::int64_t>(archive.size()));
  (void)world.memory();
  compute_to_the_end(world, host, problem);
}

// What time brings.
#include "server/service/upkeep/ticker.h"

#include <map>
#include <thread>

#include "tests/unit/service/log_lines.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

TEST_CASE("a calendar that was set makes nobody silent: everything counts from now") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  world.tick();
  world.clock().jump_calendar(std::chrono::hours{48});
  world.tick();
  world.tick();
  CHECK(world.show(problem).open_units == 1);  // its lease began anew
  (void)world.memory();
  world.clock().jump_calendar(std::chrono::hours{-48});
  world.tick();
  CHECK(world.show(problem).open_units == 1);
}

TEST_CASE("time that passes ends leases; a calendar that stands still does not matter") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  world.tick();
  world.clock().advance(std::chrono::hours{25});
  world.tick();
  CHECK(world.show(problem).open_units == 0);
}

TEST_CASE("blobs that nothing refers to go after a day, others stay") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  const auto grant = world.grants(host.id).front();
  const auto request = world.uploaded(World::results(grant.unit, {grant.range.begin, grant.range.begin + 1}));
  (void)must(world.commit(host.id, request));
  storage::BlobStore& blobs = world.service().kernel().blobs();
  const std::string orphan = must(blobs.put("nobody's"));
  const auto collect = [&] {
    world.service().ticker().collect_garbage();
    world.settle();
    for (int i = 0; i < 100 && io::real_files().exists(blobs.path(orphan)); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  };
  collect();
  CHECK(io::real_files().exists(blobs.path(orphan)));
  world.clock().advance(std::chrono::hours{49});
  collect();
  CHECK(!io::real_files().exists(blobs.path(orphan)));
  CHECK(io::real_files().exists(blobs.path(request.digest)));
  CHECK(world.show(problem).accepted == 1);
}

TEST_CASE("nothing is removed while a job may have stored what no row names yet") {
  World world;
  storage::BlobStore& blobs = world.service().kernel().blobs();
  const std::string orphan = must(blobs.put("perhaps somebody's"));
  world.clock().advance(std::chrono::hours{49});
  (void)world.look<bool>([](service::Transaction& tx) {
    tx.model.underway.drafts[ProblemId{1}] = "being planned";
    return true;
  });
  world.service().ticker().collect_garbage();
  (void)world.look<bool>([](service::Transaction&) { return true; });
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  CHECK(io::real_files().exists(blobs.path(orphan)));
  (void)world.look<bool>([](service::Transaction& tx) {
    tx.model.underway.drafts.clear();
    return true;
  });
}

TEST_CASE("a tick that could not be stored does not stop the clock") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  world.store().fail_at(1);
  world.service().ticker().tick();
  while (!world.store().failed()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  world.settle();
  world.clock().advance(std::chrono::hours{25});
  world.tick();
  CHECK(world.show(problem).open_units == 0);
}

TEST_CASE("the ticker ticks once a second of its own accord") {
  World world;
  const auto commits = world.store().commits();
  world.service().start_ticking();
  for (int i = 0; i < 300 && world.store().commits() == commits; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  CHECK(world.store().commits() > commits);
}

TEST_CASE("what fair sharing charged is written at the thirtieth tick, whole or not at all") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId first = world.add_problem(1000), second = world.add_problem(1000);
  (void)world.grants(host.id, 4);
  const auto stored = [&] {
    return world.look<std::map<ProblemId, double>>([](service::Transaction& tx) {
      std::map<ProblemId, double> services;
      for (const auto& row : must(tx.store.problems())) services[row.id] = row.service;
      return services;
    });
  };
  int ticks = 0;
  const auto tick_until_accounts = [&] {
    do world.tick();
    while (++ticks % 30 != 29);
  };
  for (int n = 1; n < 20; ++n) {
    INFO("call " << n << " of the store fails");
    tick_until_accounts();
    const auto before = stored();
    const std::int64_t commits = world.store().commits();
    world.clock().advance(std::chrono::seconds{1});
    world.store().fail_at(n);
    world.service().ticker().tick();
    ++ticks;
    while (!world.store().failed() && world.store().commits() == commits)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    const bool failed = world.store().failed();
    world.store().heal();
    world.settle();
    (void)world.memory();
    if (failed) {
      CHECK(stored() == before);
      continue;
    }
    CHECK(n > 2);
    const auto after = stored();
    CHECK(after.at(first) > before.at(first));
    CHECK(after.at(second) > before.at(second));
    return;
  }
  FAIL("it never succeeds");
}

TEST_CASE("a calendar that was set is noticed, also where the tick that saw it could not be stored") {
  const LogLines log;
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  world.tick();
  world.clock().jump_calendar(std::chrono::hours{48});
  world.store().fail_at(1);
  world.service().ticker().tick();
  while (!world.store().failed()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  world.store().heal();
  world.settle();
  world.tick();
  world.tick();
  CHECK(world.show(problem).open_units == 1);  // the model that was read back counts from its own time
  CHECK(!log.has("the calendar moved"));
  world.clock().jump_calendar(std::chrono::seconds{-11});
  world.tick();
  CHECK(log.count("the calendar moved by -11 s") == 1);
  world.tick();
  world.clock().jump_calendar(std::chrono::seconds{9});  // clocks are corrected by so much
  world.tick();
  world.tick();
  CHECK(log.count("the calendar moved") == 1);
}

TEST_CASE("while the writer is behind, one tick waits for it and not many") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  (void)world.add_problem(30);
  (void)world.grants(host.id);
  const auto ticks_logged = [&] {
    world.tick();  // writes the log
    const auto bytes = io::real_files().read(world.project().decisions(), 1 << 20);
    std::int64_t count = 0;
    const std::string text = bytes.ok() ? *bytes : "";
    const std::string event = "\"event\":\"tick\"";
    for (auto at = text.find(event); at != std::string::npos; at = text.find(event, at + 1)) ++count;
    return count;
  };
  const std::int64_t before = ticks_logged();
  CHECK(before >= 1);
  auto held = std::make_unique<HeldWriter>(world);
  for (int i = 0; i < 10; ++i) world.service().ticker().tick();
  held.reset();
  world.settle();
  CHECK(ticks_logged() == before + 2);  // the one that waited, and that of ticks_logged()
}

TEST_CASE("how far the store is is written down when it went on, and again after it could not be") {
  const LogLines log;
  World world;
  const auto noted = [&] {
    return must(storage::read_generation_note(io::real_files(), world.directory()))
        .value_or(storage::GenerationNote{});
  };
  const auto present = [&] { return world.service().kernel().store().generation().generation; };
  world.add_application();
  world.tick();
  world.service().ticker().note_generation();
  CHECK(noted().generation == present());
  const storage::GenerationNote before = noted();
  world.clock().advance(std::chrono::seconds{1});
  world.service().ticker().note_generation();
  CHECK(noted() == before);  // nothing has changed: nothing is written
  const io::Path path = storage::generation_note_path(world.directory());
  must(io::real_files().remove(path));
  must(io::real_files().make_directories(path / "in the way"));
  (void)world.add_host();
  world.service().ticker().note_generation();
  CHECK(log.has("cannot be written down"));
  must(io::real_files().remove_all(path));
  world.service().ticker().note_generation();
  CHECK(noted().generation == present());
  CHECK(noted().generation > before.generation);
}

TEST_CASE("every ten minutes blobs that nothing refers to are looked for") {
  World world;
  storage::BlobStore& blobs = world.service().kernel().blobs();
  const std::string orphan = must(blobs.put("nobody's"));
  world.clock().advance(std::chrono::hours{49});
  for (int i = 0; i < 599; ++i) world.service().ticker().tick();
  world.settle();
  CHECK(io::real_files().exists(blobs.path(orphan)));
  world.service().ticker().tick();
  for (int i = 0; i < 1000 && io::real_files().exists(blobs.path(orphan)); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  CHECK(!io::real_files().exists(blobs.path(orphan)));
}

TEST_CASE("clearing away that cannot ask the store removes nothing, and the next round does") {
  World world;
  storage::BlobStore& blobs = world.service().kernel().blobs();
  const std::string orphan = must(blobs.put("nobody's"));
  world.clock().advance(std::chrono::hours{49});
  for (const int call : {1, 2, 3}) {  // begin, referenced_blobs, commit
    INFO("call " << call << " fails");
    world.store().fail_at(call);
    world.service().ticker().collect_garbage();
    while (!world.store().failed()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    world.store().heal();
    world.settle();
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    CHECK(io::real_files().exists(blobs.path(orphan)));
  }
  world.service().ticker().collect_garbage();
  for (int i = 0; i < 1000 && io::real_files().exists(blobs.path(orphan)); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  CHECK(!io::real_files().exists(blobs.path(orphan)));
}

TEST_CASE("what a host uploaded stays where a row names the same bytes") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  storage::BlobStore& blobs = world.service().kernel().blobs();
  const std::string digest = must(blobs.put("an input"));
  protocol::AddProblem request;
  request.application = "numbers";
  request.parameters = R"({"count": 30})";
  request.inputs = {{"input", digest, 0, {}}};
  (void)must(world.try_add_problem(request));
  (void)world.grants(host.id);
  (void)must(World::wait<protocol::UploadState>([&](auto done) {
    world.service().uploads().upload({digest, 0, 8, "an input", false, 1000, host.id}, std::move(done));
  }));
  world.clock().advance(std::chrono::minutes{61});
  world.service().ticker().collect_garbage();
  world.settle();
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  CHECK(must(blobs.read(digest, 100)) == "an input");
}

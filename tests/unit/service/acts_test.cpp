// The audit log: every change leaves an act, together with the change or not at all; what is refused is
// counted; old acts go and the chain stays whole.
#include <thread>

#include "server/service/core/audit_head.h"
#include "server/storage/sqlite.h"
#include "shared/base/limits.h"
#include "shared/crypto/act_chain.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

protocol::AuditPage page_of(World& world, std::int64_t after = 0) {
  return must(World::wait<protocol::AuditPage>(
      [&](auto done) { world.service().audit().page(after, std::move(done)); }));
}

std::vector<std::string> lines_of(const std::vector<protocol::Act>& acts) {
  std::vector<std::string> lines;
  for (const auto& act : acts) lines.push_back(act.actor + ": " + act.action + " " + act.object);
  return lines;
}

void check_whole(World& world) {
  const auto head =
      world.look<protocol::ChainPlace>([](Transaction& tx) { return check_acts(tx.store).value(); });
  CHECK(head.number == page_of(world).head.number);
}

Actor ann(const std::string& action, const std::string& object = "") {
  return {"ann", "operator", action, object};
}

Result<protocol::MadeCode> add_code(World& world, const std::string& name) {
  protocol::AddCode request;
  request.name = name;
  return World::wait<protocol::MadeCode>(
      [&](Done<protocol::MadeCode> done) { world.service().codes().add(request, done.by(ann("code add"))); });
}

}  // namespace

TEST_CASE("changes leave acts, refusals and looks leave none") {
  World world;
  const auto first = page_of(world);
  CHECK(lines_of(first.acts) == std::vector<std::string>{"gleaner-server: token change project",
                                                         "gleaner-server: code change default"});
  must(add_code(world, "lab"));
  CHECK(add_code(world, "lab").error().kind == ErrorKind::conflict);
  (void)must(World::wait<std::vector<protocol::CodeInfo>>(
      [&](auto done) { world.service().codes().list(std::move(done)); }));
  for (int i = 0; i < 2; ++i) {
    const auto page = page_of(world, 2);
    CHECK(lines_of(page.acts) == std::vector<std::string>{"ann: code add lab"});
    CHECK(page.acts[0].role == "operator");
    CHECK(page.acts[0].summary == "valid");
    CHECK(page.head.number == 3);
    check_whole(world);
    world.restart();  // with the same files: nothing is changed by it
  }
}

TEST_CASE("what a problem's life leaves, with answers that are wrapped on their way") {
  World world;
  world.add_application();
  const auto with_actor = [](const std::string& action, const std::string& object, auto done) {
    return done.by(ann(action, object));
  };
  protocol::AddProblem request;
  request.name = "p";
  request.application = "numbers";
  request.parameters = R"({"count": 3})";
  const auto made = World::wait<protocol::ProblemInfo>([&](Done<protocol::ProblemInfo> done) {
    world.service().problems().add(request, with_actor("problem add", "", done));
  });
  const ProblemId id = must(made).id;
  const std::string object = std::to_string(id.value);
  must(World::wait<protocol::ProblemInfo>([&](Done<protocol::ProblemInfo> done) {
    world.service().problems().change(id, Problems::Action::pause, with_actor("problem pause", object, done));
  }));
  const auto preview = World::wait<protocol::Preview>([&](Done<protocol::Preview> done) {
    world.service().previews().preview(id, with_actor("problem preview", object, done));
  });
  CHECK(!preview.ok());  // nothing is there yet: no act
  must(World::wait_done([&](StatusDone done) {
    world.service().problems().remove(id, std::move(done), ann("problem delete", object));
  }));
  auto page = page_of(world, 2);
  CHECK(lines_of(page.acts) == std::vector<std::string>{"ann: problem add " + object,
                                                        "ann: problem pause " + object,
                                                        "ann: problem delete " + object});
  CHECK(says(page.acts[1].summary, "p: paused"));
  check_whole(world);
}

TEST_CASE("whatever call of the store fails, there is the change with its act or neither") {
  World world;
  const std::int64_t before = page_of(world).head.number;
  int made = 0;
  with_each_failure(world, [&](World& w) -> Status {
    const Status added = status_of(add_code(w, "lab" + std::to_string(made)));
    if (added.ok()) ++made;
    w.store().heal();
    const auto page = page_of(w);
    CHECK(page.head.number == before + made);
    check_whole(w);
    return added;
  });
  CHECK(made > 0);
}

TEST_CASE("refusals are counted, a row for what was tried by whom") {
  World world;
  for (int i = 0; i < 1000; ++i)
    world.service().audit().refused("unknown", ErrorKind::unauthorized, "problem delete", "192.0.2.7");
  world.service().audit().refused("ann", ErrorKind::forbidden, "token add", "192.0.2.8");
  for (int i = 0; i < 2; ++i) {
    const auto page = page_of(world);
    REQUIRE(page.refusals.size() == 2);
    for (const auto& count : page.refusals) {
      const bool unknown = count.actor == "unknown";
      CHECK(count.times == (unknown ? 1000 : 1));
      CHECK(count.last_network == (unknown ? "192.0.2.7" : "192.0.2.8"));
      CHECK(count.kind == (unknown ? "unauthorized" : "forbidden"));
    }
    CHECK(page_of(world, 1).refusals.empty());
    world.restart();
  }
  world.clock().advance(std::chrono::seconds{5});
  world.service().audit().refused("ann", ErrorKind::forbidden, "token add", "192.0.2.9");
  world.service().audit().refused("ann", ErrorKind::forbidden, "token add", "192.0.2.9");
  // A failing disk forgets none.
  world.store().fail_at(1);
  world.service().audit().store_refusals();
  for (int i = 0; i < 10'000 && !world.store().failed(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  world.store().heal();
  world.tick();
  const auto page = page_of(world);
  CHECK(page.refusals.front().times == 3);
  CHECK(page.refusals.front().last_network == "192.0.2.9");
  CHECK(page.refusals.front().first_at + std::chrono::seconds{5} <= page.refusals.front().last_at);
}

TEST_CASE("the oldest acts go, and what is left is whole") {
  World world;
  const std::int64_t last = limits::acts_kept + limits::acts_dropped_at_once;
  CHECK(world.look<bool>([&](Transaction& tx) {
    bool all = true;
    for (auto number = 3; number <= last; ++number)
      all = all && append_act(tx.store, ann("problem pause", "7"), {"", "paused"}, tx.now).ok();
    return all;
  }));
  const auto page = page_of(world);
  CHECK(page.start.number == limits::acts_dropped_at_once);
  CHECK(page.head.number == last);
  CHECK(page.acts.size() == static_cast<std::size_t>(limits::acts_per_page_max));
  CHECK(page.acts.front().number == limits::acts_dropped_at_once + 1);
  auto next = page;
  std::size_t count = 0;
  for (; !next.acts.empty(); next = page_of(world, next.acts.back().number)) count += next.acts.size();
  CHECK(count == static_cast<std::size_t>(limits::acts_kept));
  check_whole(world);
}

TEST_CASE("a log that was cut at its end is found by the head that is noted outside the store") {
  World world;
  for (int i = 0; i < 5; ++i) must(add_code(world, "lab" + std::to_string(i)));
  world.tick();
  world.tick();
  const auto noted = [&] { return must(read_audit_head(io::real_files(), world.project())); };
  REQUIRE(noted());
  CHECK(noted()->number == page_of(world).head.number);
  const auto doubt = [&] { return world.service().audit().doubt(); };
  world.restart();
  CHECK(doubt().ok());
  const std::int64_t last = page_of(world).head.number;

  // As who can write the store, and nothing else, does it.
  const bool anew = GENERATE(false, true);
  (void)world.look<bool>([&](Transaction& tx) {
    auto acts = must(tx.store.acts(last - 3, 1));
    must(tx.store.set_value("acts_head", crypto::place_text({last - 2, crypto::digest_of(acts.at(0))})));
    return true;
  });
  {
    const auto database = must(storage::Database::open((world.directory() / "store.sqlite").string(),
                                                       storage::Database::Create::no));
    must(database->begin());
    must(database->query("DELETE FROM acts WHERE number > ?").add(last - 2).run());
    must(database->commit());
  }
  if (anew)
    for (int i = 0; i < 4; ++i) must(add_code(world, "other" + std::to_string(i)));
  world.restart();
  REQUIRE(!doubt().ok());
  CHECK(says(doubt().error().message, anew ? "is not the one that was noted" : "was cut"));
  must(add_code(world, "more"));
  world.tick();
  world.tick();
  CHECK(noted()->number == last);  // the proof stays
  CHECK(page_of(world).noted->number == last);
  world.restart();
  CHECK(!doubt().ok());
  // Given up with --accept-loss.
  must(forget_audit_head(io::real_files(), world.project()));
  world.restart();
  CHECK(doubt().ok());
}

TEST_CASE("wherever a server is killed, the noted head is in its log") {
  World world;
  for (int i = 0; i < 10; ++i) {
    must(add_code(world, "lab" + std::to_string(i)));
    if (i % 3 == 0) world.tick();
    const auto note = must(read_audit_head(io::real_files(), world.project()));
    if (note) CHECK(world.look<bool>([&](Transaction& tx) { return check_noted(tx.store, *note).ok(); }));
  }
}

// What the console asks of the service: who is logged in, curves, the map of items, hosts a page at a time.
#include <thread>

#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::Role;
using service::Admin;
using service::LoggedIn;
using service::NewSession;

namespace {

NewSession open_session(World& world, const Admin& admin) {
  return must(
      World::wait<NewSession>([&](auto done) { world.service().logins().open(admin, std::move(done)); }));
}

protocol::ItemMap item_map(World& world, ProblemId id) {
  return must(World::wait<protocol::ItemMap>(
      [&](auto done) { world.service().views().item_map(id, std::move(done)); }));
}

protocol::HostPage host_page(World& world, const service::HostQuery& query) {
  return must(World::wait<protocol::HostPage>(
      [&](auto done) { world.service().views().host_page(query, std::move(done)); }));
}

std::vector<protocol::Act> acts(World& world) {
  return must(World::wait<protocol::AuditPage>(
                  [&](auto done) { world.service().audit().page(0, std::move(done)); }))
      .acts;
}

}  // namespace

TEST_CASE("a session may what its token may, as long as that counts") {
  World world;
  const auto made = must(World::wait<protocol::MadeToken>([&](auto done) {
    world.service().admins().add({"ann", Role::view, 0}, std::move(done));
  }));
  auto& logins = world.service().logins();
  const Admin admin = must(logins.identify({"", made.token}));
  CHECK(admin.name == "ann");
  const NewSession opened = open_session(world, admin);
  const LoggedIn who = must(logins.find(opened.secret));
  CHECK(who.admin.role == Role::view);
  CHECK(who.guard == opened.who.guard);
  CHECK(logins.find("other").error().kind == ErrorKind::unauthorized);
  (void)must(World::wait<protocol::TokenInfo>(
      [&](auto done) { world.service().admins().withdraw("ann", std::move(done)); }));
  CHECK(says(logins.find(opened.secret).error().message, "ann was withdrawn"));
}

TEST_CASE("a link stands for who made it, once, and both leave an act") {
  World world;
  auto& logins = world.service().logins();
  const Admin owner{service::project_token, Role::own};
  const auto link =
      must(World::wait<protocol::ConsoleLink>([&](auto done) { logins.make_link(owner, std::move(done)); }));
  CHECK(link.expires_at - world.clock().now() == std::chrono::minutes{2});
  CHECK(must(logins.identify({link.secret, ""})).role == Role::own);
  CHECK(logins.identify({link.secret, ""}).error().kind == ErrorKind::unauthorized);
  CHECK(logins.identify({}).error().kind == ErrorKind::invalid);
  CHECK(logins.identify({"a", "b"}).error().kind == ErrorKind::invalid);
  (void)open_session(world, owner);
  const auto all = acts(world);
  REQUIRE(all.size() >= 2);
  CHECK(all[all.size() - 2].action == "console link");
  CHECK(all.back().action == "console login");
  CHECK(all.back().summary.empty());
}

TEST_CASE("the map says what is accepted and who holds what, and is made once a second for all") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(12);
  const TestHost host = world.add_host();
  const auto before = item_map(world, problem);
  CHECK(before.items == 12);
  CHECK(before.accepted == std::vector<int>(12, 0));
  const auto grants = world.grants(host.id, 1);
  REQUIRE(grants.size() == 1);
  CHECK(item_map(world, problem).held == before.held);  // the last one is young enough
  world.clock().advance(std::chrono::seconds{1});
  const auto during = item_map(world, problem);
  const auto first = static_cast<std::size_t>(grants[0].range.begin);
  CHECK(during.held[first] == 100);
  CHECK(during.holders[first] == host.id);
  world.finish(grants[0]);
  world.clock().advance(std::chrono::seconds{1});
  CHECK(item_map(world, problem).accepted[first] == 100);
  const auto none = World::wait<protocol::ItemMap>(
      [&](auto done) { world.service().views().item_map(ProblemId{99}, std::move(done)); });
  CHECK(none.error().kind == ErrorKind::not_found);
}

TEST_CASE("hosts are found by a part of their name, and go on after the last one seen") {
  World world;
  for (const char* name : {"Attic", "kitchen", "attic-2"}) (void)world.add_host(name);
  const auto found = host_page(world, {{}, "ATTIC", {}});
  REQUIRE(found.hosts.size() == 2);
  CHECK(found.total == 3);
  CHECK(found.next == HostId{});
  CHECK(host_page(world, {found.hosts[0].id, "", {}}).hosts.size() == 2);
  CHECK(host_page(world, {{}, "", protocol::HostState::revoked}).hosts.empty());
}

TEST_CASE("curves grow by a sample every five seconds") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(5);
  auto& views = world.service().views();
  for (int i = 0; i < 25; ++i) {
    views.tick();
    world.settle();
    world.clock().advance(std::chrono::seconds{1});
  }
  CHECK(views.history().size() >= 3);
  CHECK(views.history().size() <= 5);
  CHECK(views.history(problem).size() >= 3);
  CHECK(views.history(ProblemId{99}).empty());
}

TEST_CASE("settings are shown by their full names") {
  World world;
  const auto settings = world.service().views().settings();
  const auto has = [&](const std::string& name, const std::string& value) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const auto& each) { return each.name == name && each.value == value; });
  };
  CHECK(has("server.threads", std::to_string(world.service().kernel().settings().configuration.threads)));
  CHECK(has("project.name", '"' + world.service().kernel().settings().configuration.name + '"'));
}

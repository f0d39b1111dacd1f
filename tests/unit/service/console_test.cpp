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

protocol::HostInfo held(World& world, HostId host, const std::string& reason) {
  return must(World::wait<protocol::HostInfo>(
      [&](auto done) { world.service().hosts().hold(host, {reason}, std::move(done)); }));
}

protocol::HostInfo released(World& world, HostId host) {
  return must(World::wait<protocol::HostInfo>(
      [&](auto done) { world.service().hosts().release(host, std::move(done)); }));
}

std::vector<protocol::UnitInfo> units_of(World& world, HostId host, int count) {
  return must(World::wait<std::vector<protocol::UnitInfo>>(
      [&](auto done) { world.service().views().host_units(host, count, std::move(done)); }));
}

NewSession open_session(World& world, const Admin& admin) {
  return must(
      World::wait<NewSession>([&](auto done) { world.service().logins().open({}, admin, std::move(done)); }));
}

protocol::ItemMap item_map(World& world, ProblemId id) {
  return must(World::wait<protocol::ItemMap>(
      [&](auto done) { world.service().views().item_map(id, std::move(done)); }));
}

protocol::HostPage host_page(World& world, const service::HostQuery& query) {
  return must(World::wait<protocol::HostPage>(
      [&](auto done) { world.service().views().host_pages().page(query, std::move(done)); }));
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
      [&](auto done) { world.service().admins().withdraw("ann", {}, std::move(done)); }));
  CHECK(says(logins.find(opened.secret).error().message, "ann was withdrawn"));
}

TEST_CASE("a link stands for who made it, once, and both leave an act") {
  World world;
  auto& logins = world.service().logins();
  const Admin owner{service::project_token, Role::own};
  const auto link =
      must(World::wait<protocol::ConsoleLink>([&](auto done) { logins.make_link(owner, std::move(done)); }));
  CHECK(link.expires_at - world.clock().now() == std::chrono::minutes{2});
  const auto open = [&] {
    return World::wait<NewSession>([&](auto done) {
      logins.open({link.secret, ""}, owner, std::move(done));
    });
  };
  for (int i = 0; i < 2; ++i) CHECK(must(logins.identify({link.secret, ""})).role == Role::own);
  CHECK(must(open()).who.admin.name == service::project_token);
  CHECK(open().error().kind == ErrorKind::unauthorized);
  CHECK(logins.identify({link.secret, ""}).error().kind == ErrorKind::unauthorized);
  CHECK(logins.identify({}).error().kind == ErrorKind::invalid);
  CHECK(logins.identify({"a", "b"}).error().kind == ErrorKind::invalid);
  const auto all = acts(world);
  REQUIRE(all.size() >= 2);
  CHECK(all[all.size() - 2].action == "console link");
  CHECK(all.back().action == "console login");
  CHECK(all.back().summary.empty());
}

TEST_CASE("a token makes no more links, sessions and acts than a person does, and holds up no other") {
  World world;
  auto& logins = world.service().logins();
  const Admin vera{"vera", Role::view}, ann{"ann", Role::view};
  const auto link = [&](const Admin& admin) {
    return World::wait<protocol::ConsoleLink>([&](auto done) { logins.make_link(admin, std::move(done)); });
  };
  int made = 0;
  while (made < 1000 && link(vera).ok()) ++made;
  CHECK(made == 60);
  CHECK(link(vera).error().kind == ErrorKind::unavailable);
  CHECK(acts(world).size() < 100);
  (void)must(link(ann));
  world.clock().advance(std::chrono::seconds{15});
  (void)must(link(vera));
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

TEST_CASE(
    "who delivered most comes first where that is asked for, page by page, and shares are parts of all") {
  World world;
  world.add_application();
  std::vector<TestHost> hosts;
  for (const char* name : {"idle", "some", "most"}) hosts.push_back(world.add_host(name));
  (void)world.add_problem(3, "", "ss");
  world.finish(world.grants(hosts[1].id).front());
  for (int i = 0; i < 2; ++i) world.finish(world.grants(hosts[2].id).front());
  const auto ids = [](const protocol::HostPage& page) {
    std::vector<HostId> found;
    for (const auto& host : page.hosts) found.push_back(host.id);
    return found;
  };
  const auto by_delivered = [&](HostId after) {
    return host_page(world, {after, "", {}, "", service::HostOrder::delivered});
  };
  const auto first = by_delivered({});
  CHECK(ids(first) == std::vector{hosts[2].id, hosts[1].id, hosts[0].id});
  CHECK(first.cost_accepted == 3);
  CHECK(first.hosts[0].cost_accepted == 2);
  CHECK(ids(by_delivered(hosts[2].id)) == std::vector{hosts[1].id, hosts[0].id});
  CHECK(by_delivered(hosts[0].id).hosts.empty());
  CHECK(by_delivered(HostId{99}).hosts.empty());
  CHECK(host_page(world, {{}, "", {}}).cost_accepted == 3);
  const auto late = world.add_host("late");
  CHECK(by_delivered({}).hosts.size() == 3);  // in the order of a moment ago
  CHECK(ids(host_page(world, {{}, "", {}})).back() == late.id);
  world.clock().advance(service::HostPages::standings_age_max);
  CHECK(ids(by_delivered({})).back() == late.id);
}

TEST_CASE("hosts come in the order of any column, either way") {
  World world;
  world.add_application();
  std::vector<TestHost> hosts;
  for (const char* name : {"pc-10", "pc-9", "PC-1"}) hosts.push_back(world.add_host(name));
  (void)held(world, hosts[0].id, "an exam");
  const auto ids = [&](service::HostOrder order, bool descending) {
    std::vector<HostId> found;
    service::HostQuery query;
    query.order = order;
    query.descending = descending;
    for (const auto& host : host_page(world, query).hosts) found.push_back(host.id);
    return found;
  };
  using service::HostOrder;
  CHECK(ids(HostOrder::name, false) ==
        std::vector{hosts[2].id, hosts[1].id, hosts[0].id});  // as people count
  CHECK(ids(HostOrder::name, true) == std::vector{hosts[0].id, hosts[1].id, hosts[2].id});
  CHECK(ids(HostOrder::state, true).front() == hosts[0].id);  // on hold
  CHECK(ids(HostOrder::reason, true).front() == hosts[0].id);
  CHECK(ids(HostOrder::number, true) == std::vector{hosts[2].id, hosts[1].id, hosts[0].id});
  for (const auto order : {HostOrder::cores, HostOrder::speed, HostOrder::trust, HostOrder::items,
                           HostOrder::cost, HostOrder::version, HostOrder::contact})
    CHECK(ids(order, false).size() == 3);
  service::HostQuery on_hold;
  on_hold.on_hold = true;
  const auto page = host_page(world, on_hold);
  REQUIRE(page.hosts.size() == 1);
  CHECK(page.hosts[0].id == hosts[0].id);
  CHECK(service::host_order_from("speed") == HostOrder::speed);
  CHECK_FALSE(service::host_order_from("colour"));
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

TEST_CASE("a host on hold goes on with what it has and gets nothing new until it is released") {
  World world;
  world.add_application();
  const auto host = world.add_host();
  const ProblemId problem = world.add_problem(400);
  const auto granted = world.grants(host.id);
  CHECK(held(world, host.id, "an exam").on_hold == "an exam");
  world.restart();
  const auto reply = must(world.work(host.id, world.work_request(2)));
  CHECK(reply.grants.empty());
  CHECK(says(reply.reason, "on hold: an exam"));
  CHECK(reply.retry_after_seconds > 0);
  world.finish(granted.at(0));  // what it delivers is welcome
  CHECK(world.show(problem).accepted == granted.at(0).range.size());
  CHECK(says(world.show(problem).waits, "1 of 1 host online on hold"));
  CHECK(released(world, host.id).on_hold.empty());
  CHECK(!must(world.work(host.id, world.work_request())).grants.empty());
  CHECK(status_of(World::wait<protocol::HostInfo>(
                      [&](auto done) { world.service().hosts().hold(HostId{99}, {}, std::move(done)); }))
            .error()
            .kind == ErrorKind::not_found);
}

TEST_CASE("a host's tags are set, kept, and looked for") {
  World world;
  const auto one = world.add_host("one"), two = world.add_host("two");
  const auto tag = [&](HostId host, std::vector<std::string> tags) {
    return World::wait<protocol::HostInfo>(
        [&](auto done) { world.service().hosts().tag(host, {std::move(tags)}, std::move(done)); });
  };
  CHECK(must(tag(one.id, {"lab", "b12", "lab"})).tags == std::vector<std::string>{"b12", "lab"});
  CHECK(!tag(one.id, {""}).ok());
  CHECK(!tag(one.id, {"two\nlines"}).ok());
  world.restart();
  const auto found = host_page(world, {{}, "", {}, "lab"});
  REQUIRE(found.hosts.size() == 1);
  CHECK(found.hosts[0].id == one.id);
  CHECK(host_page(world, {{}, "", {}, "la"}).hosts.empty());
  CHECK(host_page(world, {{}, "", {}, ""}).hosts.size() == 2);
  CHECK(must(tag(one.id, {})).tags.empty());
  (void)two;
}

TEST_CASE("a host's units are told, the newest first, open ones as they stand") {
  World world;
  world.add_application();
  const auto host = world.add_host(), other = world.add_host("other");
  const ProblemId problem = world.add_problem(400);
  const auto first = world.grants(host.id).at(0);
  world.clock().advance(std::chrono::seconds{5});
  world.finish(first);
  const auto second = world.grants(host.id).at(0);
  (void)world.grants(other.id);
  must(world.commit(host.id, World::results(second.unit, {second.range.begin, second.range.begin + 1})));
  const auto units = units_of(world, host.id, 10);
  REQUIRE(units.size() == 2);
  CHECK(units[0].id == second.unit);
  CHECK(units[0].state == "open");
  CHECK(units[0].delivered == 1);
  CHECK(units[0].closed == Timestamp{});
  CHECK(units[1].id == first.unit);
  CHECK(units[1].state == "done");
  CHECK(units[1].problem == problem);
  CHECK(units[1].delivered == first.range.size());
  CHECK(units[1].closed - units[1].issued == std::chrono::seconds{5});
  CHECK(units_of(world, host.id, 1).size() == 1);
}

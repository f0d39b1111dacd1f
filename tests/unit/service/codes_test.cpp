// Enrolment codes: what each still allows, what its hosts become, and that nothing of it is half-done.
#include "shared/protocol/join_code.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

struct Made {
  protocol::CodeInfo code;
  Bytes secret;
};

Result<Made> made(Result<protocol::MadeCode> reply) {
  if (!reply.ok()) return reply.error();
  return Made{reply->code, must(protocol::parse_join_code(reply->join_code)).enrolment_secret};
}

Result<Made> add(World& world, const protocol::AddCode& request) {
  world.service().overview().set_listening_port(8443);
  return made(World::wait<protocol::MadeCode>(
      [&](auto done) { world.service().codes().add(request, std::move(done)); }));
}

Result<Made> rotate(World& world, const std::string& name) {
  world.service().overview().set_listening_port(8443);
  return made(World::wait<protocol::MadeCode>(
      [&](auto done) { world.service().codes().rotate(name, std::move(done)); }));
}

Result<protocol::CodeInfo> withdraw(World& world, const std::string& name, bool with_hosts = false) {
  return World::wait<protocol::CodeInfo>(
      [&](auto done) { world.service().codes().withdraw(name, {with_hosts}, std::move(done)); });
}

protocol::CodeInfo show(World& world, const std::string& name) {
  return must(World::wait<protocol::CodeInfo>(
      [&](auto done) { world.service().codes().show(name, std::move(done)); }));
}

Result<protocol::EnrolReply> join(World& world, const Bytes& secret, const std::string& name) {
  auto request = world.enrol_request(name);
  request.secret = secret;
  return world.enrol(request);
}

std::string refusal(World& world, const Bytes& secret, const std::string& name) {
  const auto reply = join(world, secret, name);
  REQUIRE(!reply.ok());
  CHECK(reply.error().kind == ErrorKind::forbidden);
  return reply.error().message;
}

}  // namespace

TEST_CASE("a code admits as many hosts as it says, also after a restart; who came before may come back") {
  World world;
  const Made two = must(add(world, {.name = "lab", .hosts_max = 2}));
  const auto first = must(join(world, two.secret, "a"));
  must(join(world, two.secret, "b"));
  CHECK(says(refusal(world, two.secret, "c"), "admits 2 hosts"));
  world.restart();
  CHECK(says(refusal(world, two.secret, "c"), "admits 2 hosts"));
  CHECK(must(join(world, two.secret, "a")).host == first.host);
  CHECK(show(world, "lab").state == "full");
  CHECK(show(world, "lab").hosts == 2);
  // Leaving makes no room: else the quota would be none.
  must(World::wait_done([&](auto done) { world.service().enrolment().leave(first.host, std::move(done)); }));
  CHECK(says(refusal(world, two.secret, "c"), "admits 2 hosts"));
  must(world.enrol(world.enrol_request("c")));  // the default code is another
}

TEST_CASE("a code ends when it says") {
  World world;
  const Made day = must(add(world, {.name = "day", .lifetime_seconds = 86'400}));
  world.clock().advance(std::chrono::seconds{86'399});
  must(join(world, day.secret, "early"));
  world.clock().advance(std::chrono::seconds{1});
  CHECK(says(refusal(world, day.secret, "late"), "expired on"));
  CHECK(says(refusal(world, day.secret, "early"), "expired on"));
  CHECK(show(world, "day").state == "expired");
}

TEST_CASE("hosts are what their code says: own or strangers, with its tags") {
  World world(Hosts::strangers);
  const Made own = must(add(world, {.name = "own", .own = true, .tags = {"lab", "b12"}}));
  const Made strangers = must(add(world, {.name = "web"}));
  const auto a = must(join(world, own.secret, "a")).host;
  const auto b = must(join(world, strangers.secret, "b")).host;
  const auto c = must(world.enrol(world.enrol_request("c"))).host;
  const auto is_own = [&](HostId id) {
    return world.look<bool>([id](service::Transaction& tx) { return tx.model.hosts.at(id).row.own; });
  };
  CHECK(is_own(a));
  CHECK(!is_own(b));
  CHECK(!is_own(c));  // the code that `init` prints
  const auto info = must(
      World::wait<protocol::HostInfo>([&](auto done) { world.service().hosts().show(a, std::move(done)); }));
  CHECK(info.code == "own");
  CHECK(info.tags == std::vector<std::string>{"lab", "b12"});
  // A stranger that is given another code is what that one says.
  CHECK(must(join(world, own.secret, "b")).host == b);
  CHECK(is_own(b));
  CHECK(must(join(world, strangers.secret, "b")).host == b);
  CHECK(!is_own(b));
  // With the code that it has it stays what became of it: one that was found wrong is not believed again.
  must(world.operate([a](service::Transaction& tx) {
    storage::HostRow& row = tx.model.hosts.at(a).row;
    row.own = false;
    return tx.store.update_host(row);
  }));
  CHECK(must(join(world, own.secret, "a")).host == a);
  CHECK(!is_own(a));
}

TEST_CASE("a withdrawn code admits nobody, and puts its hosts out where asked") {
  World world;
  world.add_application();
  const Made web = must(add(world, {.name = "web"}));
  const auto host = must(join(world, web.secret, "a"));
  const TestHost other = world.add_host("b");
  const ProblemId problem = world.add_problem(3);
  (void)world.grants(host.host);
  must(withdraw(world, "web"));
  CHECK(says(refusal(world, web.secret, "c"), "withdrawn"));
  CHECK(world.service().enrolment().authenticate_host(host.token).ok());
  with_each_failure(world, [&](World& w) -> Status {
    CHECK(w.service().enrolment().authenticate_host(host.token).ok());
    return status_of(withdraw(w, "web", true));
  });
  CHECK(!world.service().enrolment().authenticate_host(host.token).ok());
  CHECK(world.service().enrolment().authenticate_host(other.token).ok());
  CHECK(world.show(problem).free == 3);
  CHECK(says(refusal(world, web.secret, "a"), "withdrawn"));
  CHECK(must(world.enrol(world.enrol_request("a"))).host == host.host);  // with another code
}

TEST_CASE("making and rotating codes: whatever call of the store fails, there is none or a whole one") {
  World world;
  Bytes first;
  with_each_failure(world, [&](World& w) -> Status {
    const auto code = add(w, {.name = "lab", .hosts_max = 5, .tags = {"x"}});
    if (!code.ok()) return code.error();
    first = code->secret;
    return {};
  });
  const auto host = must(join(world, first, "a"));
  Bytes second;
  with_each_failure(world, [&](World& w) -> Status {
    const auto code = rotate(w, "lab");
    if (!code.ok()) return code.error();
    second = code->secret;
    return {};
  });
  CHECK(says(refusal(world, first, "b"), "not valid here"));
  must(join(world, second, "b"));
  CHECK(world.service().enrolment().authenticate_host(host.token).ok());
  CHECK(show(world, "lab").hosts == 2);
  CHECK(add(world, {.name = "lab"}).error().kind == ErrorKind::conflict);
  for (const char* name : {"", ".", "..", "a/b", "a b", "\xC3\xA9"})
    CHECK(add(world, {.name = name}).error().kind == ErrorKind::invalid);
  CHECK(rotate(world, "none").error().kind == ErrorKind::not_found);
  must(withdraw(world, "lab"));
  CHECK(rotate(world, "lab").error().kind == ErrorKind::conflict);
}

TEST_CASE("the default code is its file's; rotated, the old secret does not come back with a restart") {
  World world;
  const Bytes before = world.secret();
  const auto shown = [&] {
    return must(World::wait<protocol::ServerStatus>([&](auto done) {
             world.service().overview().status(std::move(done), protocol::Role::own);
           }))
        .join_code;
  };
  world.service().overview().set_listening_port(8443);
  CHECK(!shown().empty());
  const Made fresh = must(rotate(world, "default"));
  CHECK(shown().empty());
  for (int i = 0; i < 2; ++i) {
    CHECK(says(refusal(world, before, "a"), "not valid here"));
    must(join(world, fresh.secret, "b"));
    world.restart();
  }
  // Not even if its file could not be removed, or a backup brings it back.
  CHECK(!io::real_files().exists(world.project().enrolment_secret()));
  must(io::real_files().write(world.project().enrolment_secret(), to_hex(before) + "\n", io::Mode::secret));
  world.restart();
  CHECK(says(refusal(world, before, "a"), "not valid here"));
  must(join(world, fresh.secret, "b"));
  must(withdraw(world, "default"));
  world.restart();
  CHECK(says(refusal(world, fresh.secret, "c"), "withdrawn"));
}

TEST_CASE("wrong secrets count against their network like any other try to join") {
  World world([](service::Configuration& c) { c.joins_per_hour = 3; });
  for (int i = 0; i < 3; ++i) CHECK(says(refusal(world, Bytes(16, 'x'), "a"), "not valid here"));
  CHECK(world.enrol(world.enrol_request("a")).error().kind == ErrorKind::unavailable);
}

TEST_CASE("a revoked host's key joins with no code, name or machine until it may return") {
  World world;
  const TestHost host = world.add_host("a");
  const auto revoke = [&](bool may_return) {
    must(World::wait<protocol::HostInfo>(
        [&](auto done) { world.service().hosts().revoke(host.id, {may_return}, std::move(done)); }));
  };
  revoke(false);
  const Made other = must(add(world, {.name = "other"}));
  for (int i = 0; i < 2; ++i) {
    auto request = world.enrol_request("a");
    request.name = "renamed";
    request.machine = crypto::sha256_hex("another machine");
    request.secret = other.secret;
    const auto reply = world.enrol(request);
    REQUIRE(!reply.ok());
    CHECK(says(reply.error().message, "revoked this computer"));
    world.restart();
  }
  revoke(true);
  CHECK(must(world.enrol(world.enrol_request("a"))).host == host.id);
}

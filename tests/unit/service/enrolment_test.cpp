// Hosts join, are known by their token, leave and are revoked; none of it half.
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

Status leave(World& world, HostId host) {
  return World::wait_done(
      [&](service::StatusDone done) { world.service().enrolment().leave(host, std::move(done)); });
}

Result<protocol::HostInfo> revoke(World& world, HostId host) {
  return World::wait<protocol::HostInfo>(
      [&](auto done) { world.service().enrolment().revoke_host(host, {}, std::move(done)); });
}

bool is_known(World& world, const std::string& token) {
  return world.service().enrolment().authenticate_host(token).ok();
}

}  // namespace

TEST_CASE("a host joins and is known by its token from then on") {
  World world;
  const auto reply = must(world.enrol(world.enrol_request("alpha")));
  CHECK(must(world.service().enrolment().authenticate_host(reply.token)) == reply.host);
  const auto stranger = world.service().enrolment().authenticate_host("no token");
  REQUIRE(!stranger.ok());
  CHECK(stranger.error().kind == ErrorKind::unauthorized);
  CHECK(says(stranger.error().message, "join again"));
  CHECK(!world.service().admins().authenticate(reply.token).ok());
  world.restart();
  CHECK(must(world.service().enrolment().authenticate_host(reply.token)) == reply.host);
}

TEST_CASE("who joins with the wrong secret or nonsense is refused, and leaves no trace") {
  World world;
  const std::string before = world.memory();
  auto request = world.enrol_request("alpha");
  request.secret[0] = static_cast<char>(request.secret[0] ^ 1);
  auto refused = world.enrol(request);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::forbidden);
  CHECK(says(refused.error().message, "join code"));
  request = world.enrol_request("alpha");
  request.host_key = "short";
  CHECK(says(world.enrol(request).error().message, "host_key"));
  for (const int cores : {0, -1, 4097}) {
    request = world.enrol_request("alpha");
    request.cores = cores;
    CHECK(says(world.enrol(request).error().message, "cores"));
  }
  CHECK(world.memory() == before);
}

TEST_CASE("the same key on the same machine is the same host, with a new token; a cloned disk is another") {
  World world;
  const auto first = must(world.enrol(world.enrol_request("alpha")));
  auto request = world.enrol_request("alpha");
  request.cores = 8;
  request.name = "renamed";
  const auto second = must(world.enrol(request));
  CHECK(second.host == first.host);
  CHECK(second.token != first.token);
  CHECK(!is_known(world, first.token));
  CHECK(is_known(world, second.token));
  request.machine = "another machine";
  const auto clone = must(world.enrol(request));
  CHECK(clone.host != first.host);
  CHECK(is_known(world, second.token));
  CHECK(says(world.memory(), "host 1 renamed active"));
}

TEST_CASE("a host without a name gets one, a long name is cut") {
  World world;
  auto request = world.enrol_request("");
  const auto nameless = must(world.enrol(request));
  request.machine = "other";
  request.name = std::string(1000, 'x');
  const auto long_named = must(world.enrol(request));
  const auto hosts = must(World::wait<std::vector<protocol::HostInfo>>(
      [&](auto done) { world.service().enrolment().hosts(std::move(done)); }));
  REQUIRE(hosts.size() == 2);
  CHECK(hosts[0].id == nameless.host);
  CHECK(hosts[0].name == "host");
  CHECK(hosts[1].id == long_named.host);
  CHECK(hosts[1].name == std::string(64, 'x'));
}

TEST_CASE("joining: whatever call of the store fails, nobody joined") {
  World world;
  std::string token;
  with_each_failure(world, [&](World& w) -> Status {
    const auto reply = w.enrol(w.enrol_request("alpha"));
    if (!reply.ok()) return reply.error();
    token = reply->token;
    return {};
  });
  CHECK(is_known(world, token));
}

TEST_CASE("joining again: until it is stored, the old token counts") {
  World world;
  const TestHost host = world.add_host("alpha");
  std::string token;
  with_each_failure(world, [&](World& w) -> Status {
    CHECK(is_known(w, host.token));
    const auto reply = w.enrol(w.enrol_request("alpha"));
    if (!reply.ok()) {
      CHECK(is_known(w, host.token));
      return reply.error();
    }
    token = reply->token;
    return {};
  });
  CHECK(is_known(world, token));
  CHECK(!is_known(world, host.token));
}

TEST_CASE("a host that leaves gives its units back and is not known any more") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(3);
  (void)world.grants(host.id);
  CHECK(world.show(problem).open_units == 1);
  with_each_failure(world, [&](World& w) {
    CHECK(is_known(w, host.token));
    return leave(w, host.id);
  });
  CHECK(!is_known(world, host.token));
  CHECK(world.show(problem).free == 3);
  CHECK(world.show(problem).open_units == 0);
  const auto info = must(World::wait<protocol::HostInfo>(
      [&](auto done) { world.service().enrolment().host(host.id, std::move(done)); }));
  CHECK(info.state == protocol::HostState::left);
  CHECK(info.state_reason == "left by itself");
  must(leave(world, host.id));  // twice does no harm
  must(leave(world, HostId{99}));
}

TEST_CASE("a revoked host gets nothing more and cannot join again") {
  World world;
  world.add_application();
  const TestHost host = world.add_host("alpha");
  const ProblemId problem = world.add_problem(3);
  (void)world.grants(host.id);
  with_each_failure(world, [&](World& w) -> Status {
    CHECK(is_known(w, host.token));
    const auto info = revoke(w, host.id);
    return info.ok() ? Status{} : Status{info.error()};
  });
  CHECK(!is_known(world, host.token));
  CHECK(world.show(problem).open_units == 0);
  const auto work = world.work(host.id, world.work_request());
  REQUIRE(!work.ok());
  CHECK(work.error().kind == ErrorKind::forbidden);
  CHECK(says(work.error().message, "revoked by the administrator"));
  const auto again = world.enrol(world.enrol_request("alpha"));
  REQUIRE(!again.ok());
  CHECK(again.error().kind == ErrorKind::forbidden);
  CHECK(revoke(world, HostId{99}).error().kind == ErrorKind::not_found);
  const auto unknown = World::wait<protocol::HostInfo>(
      [&](auto done) { world.service().enrolment().host(HostId{99}, std::move(done)); });
  CHECK(unknown.error().kind == ErrorKind::not_found);
}

TEST_CASE("a host that left may come back") {
  World world;
  const TestHost host = world.add_host("alpha");
  must(leave(world, host.id));
  const TestHost again = world.add_host("alpha");
  CHECK(again.id == host.id);
  CHECK(is_known(world, again.token));
}

TEST_CASE("the project's statement is signed by the work key and always the same") {
  World world([](service::Configuration& c) { c.name = "Tests"; });
  const auto statement = world.service().enrolment().project();
  const auto document = must(protocol::decode<protocol::ProjectDocument>(statement.payload));
  CHECK(document.name == "Tests");
  world.clock().advance(std::chrono::hours{1});
  CHECK(world.service().enrolment().project().payload == statement.payload);
}

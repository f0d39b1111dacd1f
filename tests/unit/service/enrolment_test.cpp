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
      [&](auto done) { world.service().hosts().revoke(host, {}, std::move(done)); });
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
  request.machine = crypto::sha256_hex("another machine");
  const auto clone = must(world.enrol(request));
  CHECK(clone.host != first.host);
  CHECK(is_known(world, second.token));
  CHECK(says(world.memory(), "host 1 renamed active"));
}

TEST_CASE("a host proves its key over a nonce of the server's, once, and nobody else joins as it") {
  World world;
  const auto first = must(world.enrol(world.enrol_request("alpha")));
  const std::string before = world.memory();
  const auto project = must(read_secrets(io::real_files(), world.project(), world.clock().now())).project;
  const auto key = key_of("alpha"), thief = key_of("thief");
  const auto request = world.enrol_request("alpha");
  const auto enrol = [&](const protocol::Enrolment& said, const crypto::PrivateKey& by) {
    auto asked = request;
    asked.proof = proof(said, by);
    return World::wait<protocol::EnrolReply>(
        [&](auto done) { world.service().enrolment().enrol(asked, "127.0.0.1", std::move(done)); });
  };
  const auto refused = [&](const Result<protocol::EnrolReply>& reply, const std::string& why) {
    REQUIRE(!reply.ok());
    CHECK(reply.error().kind == ErrorKind::untrusted);
    CHECK(says(reply.error().message, why));
  };
  const auto good = enrolment_of(request, project, world.nonce());
  refused(World::wait<protocol::EnrolReply>(
              [&](auto done) { world.service().enrolment().enrol(request, "127.0.0.1", std::move(done)); }),
          "is missing");
  refused(enrol(good, thief), "not signed by that key");
  const auto changed = [&](const std::function<void(protocol::Enrolment&)>& change) {
    auto said = good;
    change(said);
    return enrol(said, key);
  };
  refused(changed([](auto& said) { said.project = std::string(64, '0'); }), "another project");
  refused(changed([](auto& said) { said.machine = crypto::sha256_hex("x"); }), "of another host");
  refused(changed([&](auto& said) { said.host_key = thief.public_key(); }), "of another host");
  refused(changed([](auto& said) { said.relay = HostId{7}; }), "joins through a relay");
  refused(changed([](auto& said) { said.tls_key = crypto::sha256_hex("x"); }), "another TLS key");
  refused(changed([](auto& said) { said.nonce.back() = static_cast<char>(said.nonce.back() ^ 1); }), "nonce");
  world.clock().advance(service::nonce_valid + std::chrono::seconds{1});
  refused(enrol(good, key), "good for five minutes");
  CHECK(world.memory() == before);
  CHECK(is_known(world, first.token));

  const auto fresh = enrolment_of(request, project, world.nonce());
  const auto earlier = enrolment_of(request, project, world.nonce());
  const auto latest = enrolment_of(request, project, world.nonce());
  world.restart();  // nothing of nonces is kept
  const auto again = must(enrol(fresh, key));
  CHECK(again.host == first.host);
  CHECK(!is_known(world, first.token));
  refused(enrol(fresh, key), "was used already");
  CHECK(must(enrol(latest, key)).host == first.host);
  refused(enrol(earlier, key), "is older");
  // A clock that was ahead for a while keeps nobody out.
  world.clock().jump_calendar(std::chrono::hours{24 * 100});
  CHECK(must(world.enrol(request)).host == first.host);
  world.clock().jump_calendar(-std::chrono::hours{24 * 100});
  CHECK(must(world.enrol(request)).host == first.host);
}

TEST_CASE("a nonce is of one project's work key, whole, and good for minutes") {
  const auto key = key_of("work"), other = key_of("another project's");
  const Timestamp now = StandingClock().now();
  const Bytes nonce = service::make_nonce(key, now);
  const auto good = [&](const Bytes& bytes, Duration later) {
    return service::check_nonce(bytes, key.public_key(), now + later).ok();
  };
  CHECK(good(nonce, Duration{}));
  CHECK(good(nonce, service::nonce_valid));
  CHECK_FALSE(good(nonce, service::nonce_valid + Duration{1}));
  CHECK(good(nonce, -service::nonce_early));
  CHECK_FALSE(good(nonce, -service::nonce_early - Duration{1}));
  CHECK_FALSE(good(service::make_nonce(other, now), Duration{}));
  for (std::size_t i = 0; i < nonce.size(); ++i) {
    Bytes changed = nonce;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK_FALSE(good(changed, Duration{}));
    CHECK_FALSE(good(nonce.substr(0, i), Duration{}));
  }
  CHECK_FALSE(good(nonce + "x", Duration{}));
}

TEST_CASE("a host without a name gets one, a long name is cut") {
  World world;
  auto request = world.enrol_request("");
  const auto nameless = must(world.enrol(request));
  request.machine = crypto::sha256_hex("other");
  request.name = std::string(1000, 'x');
  const auto long_named = must(world.enrol(request));
  const auto hosts = must(World::wait<std::vector<protocol::HostInfo>>(
      [&](auto done) { world.service().hosts().list(std::move(done)); }));
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
      [&](auto done) { world.service().hosts().show(host.id, std::move(done)); }));
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
      [&](auto done) { world.service().hosts().show(HostId{99}, std::move(done)); });
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

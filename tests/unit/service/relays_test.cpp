// Relays and the hosts under them: who is admitted by what, who may be under whom, and that neither a relay
// nor anybody else can make up, keep or take back a host.
#include "server/service/access/relays.h"

#include "server/service/core/put_out.h"
#include "server/service/work/trust.h"
#include "tests/unit/service/relay_enrolment.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::StatementType;

namespace {

HostId add_relay(World& world, const Computer& computer, std::int64_t children) {
  return join_as_relay(world, computer, children).host;
}

Error refusal(World& world, HostId asker, const protocol::EnrolRequest& request) {
  const auto reply = join(world, asker, request);
  REQUIRE(!reply.ok());
  return reply.error();
}

// A child of that relay.
HostId add_child(World& world, const Computer& computer, HostId relay) {
  return must(join(world, relay, passed_on(world, computer, relay))).host;
}

protocol::HostInfo show(World& world, HostId host) {
  return must(World::wait<protocol::HostInfo>(
      [&](auto done) { world.service().hosts().show(host, std::move(done)); }));
}

bool is_own(World& world, HostId host) {
  return world.look<bool>([host](service::Transaction& tx) { return tx.model.hosts.at(host).row.own; });
}

std::vector<protocol::RelayInfo> relays(World& world) {
  return must(World::wait<std::vector<protocol::RelayInfo>>(
      [&](auto done) { world.service().relays().list(std::move(done)); }));
}

Result<protocol::SignedStatement> certificate(World& world, HostId asker, HostId relay) {
  return World::wait<protocol::SignedStatement>(
      [&](auto done) { world.service().relays().certificate(asker, relay, std::move(done)); });
}

void revoke(World& world, HostId host, bool may_return) {
  must(World::wait<protocol::HostInfo>(
      [&](auto done) { world.service().hosts().revoke(host, {may_return}, std::move(done)); }));
}

// What it says, once it is seen to be the work key's.
protocol::RelayCertificate checked(World& world, const protocol::SignedStatement& statement) {
  const auto work =
      must(protocol::decode<protocol::KeyCertificate>(document(world).work_certificate.payload));
  CHECK(statement.key == work.key);
  must(crypto::check_signature(statement, StatementType::relay_certificate));
  return must(protocol::decode<protocol::RelayCertificate>(statement.payload));
}

}  // namespace

TEST_CASE("a relay joins with a code for one, once, and gets a certificate of the work key") {
  World world;
  const Computer lab{"lab"}, other{"other"};
  const Bytes secret = secret_for_relay(world, "b12", 20);
  CHECK(allow(world, {.name = "b12", .children = 20}).error().kind == ErrorKind::conflict);
  CHECK(allow(world, {.name = "none", .children = 0}).error().kind == ErrorKind::invalid);
  CHECK(relays(world).front().state == "allowed");
  auto host = lab.request(world);
  host.secret = secret;
  CHECK(says(world.enrol(host).error().message, "admits a relay, not a host"));
  CHECK(says(world.enrol(relay_request(world, lab, world.secret())).error().message,
             "admits hosts, not relays"));

  const auto reply = must(world.enrol(relay_request(world, lab, secret)));
  const auto said = checked(world, reply.certificate.value());
  CHECK(said.project == document(world).project);
  CHECK(said.relay == reply.host);
  CHECK(said.name == "b12");
  CHECK(said.key == lab.key.public_key());
  CHECK(said.tls_key == crypto::sha256_hex("tls of lab"));
  CHECK(said.children == 20);
  CHECK(said.not_after - said.not_before == std::chrono::hours{30 * 24});
  CHECK(!must(world.enrol(other.request(world))).certificate);

  // Once, also after a restart; but it may have lost the reply.
  world.restart();
  CHECK(says(world.enrol(relay_request(world, other, secret)).error().message, "as many have joined"));
  CHECK(must(world.enrol(relay_request(world, lab, secret))).host == reply.host);
  const auto told = relays(world);
  REQUIRE(told.size() == 1);
  CHECK(told.front().state == "active");
  CHECK(told.front().host == reply.host);
  CHECK(!told.front().relay);

  world.clock().advance(std::chrono::hours{20 * 24});
  const auto fresh = checked(world, must(certificate(world, reply.host, reply.host)));
  CHECK(fresh.not_before == world.clock().now());
  CHECK(fresh.tls_key == said.tls_key);
  const HostId plain = must(world.enrol(other.request(world))).host;
  CHECK(certificate(world, plain, plain).error().kind == ErrorKind::forbidden);
  CHECK(certificate(world, plain, reply.host).error().kind == ErrorKind::forbidden);
  revoke(world, reply.host, true);
  CHECK(certificate(world, reply.host, reply.host).error().kind == ErrorKind::forbidden);
  CHECK(relays(world).front().state == "left");
  CHECK(must(world.enrol(relay_request(world, lab, secret))).host == reply.host);
}

TEST_CASE("a host that is banned by its code comes back through no relay") {
  World world;
  const Computer lab{"lab"}, pc{"pc"};
  const HostId relay = add_relay(world, lab, 5);
  const HostId host = must(world.enrol(pc.request(world))).host;
  const protocol::AddBan ban{protocol::BanKind::code, "default", "", 0};
  (void)must(World::wait<protocol::Ban>(
      [&](auto done) { world.service().bans().add(ban, "ann", "198.51.100.1", std::move(done)); }));
  CHECK(refusal(world, relay, passed_on(world, pc, relay)).kind == ErrorKind::banned);
  (void)must(World::wait<protocol::Ban>(
      [&](auto done) { world.service().bans().remove("code", "default", std::move(done)); }));
  CHECK(add_child(world, pc, relay) == host);
}

TEST_CASE("who was put out is, under a relay, no more than the relay's other hosts") {
  World world;  // whose own code makes hosts of its own
  const Computer lab{"lab"}, pc{"pc"};
  const auto code = must(
      protocol::parse_join_code(must(allow(world, {.name = "lab", .children = 5, .own = false})).join_code));
  const HostId relay = must(world.enrol(relay_request(world, lab, code.enrolment_secret))).host;
  const HostId host = must(world.enrol(pc.request(world))).host;
  REQUIRE(is_own(world, host));
  SECTION("its code was withdrawn with its hosts") {
    (void)must(World::wait<protocol::CodeInfo>(
        [&](auto done) { world.service().codes().withdraw("default", {true}, std::move(done)); }));
    CHECK(show(world, host).state == protocol::HostState::left);
  }
  SECTION("it may return") {
    revoke(world, host, true);
    CHECK(show(world, host).state == protocol::HostState::left);
  }
  SECTION("it left by itself") {
    must(World::wait_done([&](auto done) { world.service().enrolment().leave(host, std::move(done)); }));
  }
  world.clock().advance(std::chrono::seconds{1});
  const auto reply = must(join(world, relay, passed_on(world, pc, relay)));
  CHECK(reply.host == host);
  CHECK(reply.own == false);
  const auto now = show(world, host);
  CHECK(now.code == "lab");
  CHECK(!is_own(world, host));
  CHECK(now.state_reason.empty());
  // With a code of its own it is what that says, again.
  world.clock().advance(std::chrono::seconds{1});
  if (const auto back = world.enrol(pc.request(world)); back.ok()) {
    CHECK(show(world, host).code == "default");
    CHECK(is_own(world, host));
  } else {
    CHECK(says(back.error().message, "was withdrawn"));
  }
}

TEST_CASE(
    "a relay hears of each of its hosts that the administrator puts out, and none of them is believed") {
  World world;
  const Computer lab{"lab"}, pc{"pc"};
  const auto code = must(
      protocol::parse_join_code(must(allow(world, {.name = "lab", .children = 5, .own = false})).join_code));
  const HostId relay = must(world.enrol(relay_request(world, lab, code.enrolment_secret))).host;
  const HostId host = must(world.enrol(pc.request(world))).host;
  world.clock().advance(std::chrono::seconds{1});
  CHECK(add_child(world, pc, relay) == host);
  CHECK(is_own(world, host));
  const auto believed = [&] {
    return world.look<bool>(
        [host](service::Transaction& tx) { return tx.model.project->reputation().is_own(host); });
  };
  CHECK(believed());
  const auto ban = [&](protocol::BanKind kind, const std::string& subject) {
    (void)must(World::wait<protocol::Ban>([&](auto done) {
      world.service().bans().add({kind, subject, "", 0}, "ann", "198.51.100.1", std::move(done));
    }));
  };
  SECTION("its code is withdrawn") {
    (void)must(World::wait<protocol::CodeInfo>(
        [&](auto done) { world.service().codes().withdraw("default", {true}, std::move(done)); }));
  }
  SECTION("its code is banned") {
    ban(protocol::BanKind::code, "default");
  }
  SECTION("its key is banned") {
    ban(protocol::BanKind::key, to_hex(pc.key.public_key()));
  }
  SECTION("it is revoked") {
    revoke(world, host, false);
  }
  CHECK(show(world, host).state != protocol::HostState::active);
  CHECK(world.look<bool>([=](service::Transaction& tx) {
    const auto out = service::put_out_under(tx.model, relay);
    return out && *out == std::vector{host};
  }));
  CHECK(!believed());
}

TEST_CASE("hosts of an own relay are another relay's when they move there, and new ones end with its code") {
  World world;
  const Computer own{"own"}, lab{"lab"}, pc{"pc"};
  const HostId from = add_relay(world, own, 5);  // whose hosts are believed
  const auto code = must(
      protocol::parse_join_code(must(allow(world, {.name = "lab", .children = 5, .own = false})).join_code));
  const HostId to = must(world.enrol(relay_request(world, lab, code.enrolment_secret))).host;
  const HostId host = add_child(world, pc, from);
  CHECK(is_own(world, host));
  world.clock().advance(std::chrono::seconds{1});
  CHECK(add_child(world, pc, to) == host);
  CHECK(!is_own(world, host));
  CHECK(show(world, host).code == "lab");
  (void)must(World::wait<protocol::CodeInfo>(
      [&](auto done) { world.service().codes().withdraw("lab", {false}, std::move(done)); }));
  CHECK(says(refusal(world, to, passed_on(world, Computer{"new"}, to)).message, "was withdrawn"));
  world.clock().advance(std::chrono::seconds{1});
  CHECK(add_child(world, pc, to) == host);
}

TEST_CASE("a host joins through a relay with its own word, and with nothing less") {
  World world;
  const Computer lab{"lab"}, b{"b"}, pc{"pc"}, other{"other"};
  const HostId relay = add_relay(world, lab, 5), second = add_relay(world, b, 5);
  const auto good = passed_on(world, pc, relay);
  const auto refused = [&](const std::function<void(protocol::Enrolment&)>& change,
                           const crypto::PrivateKey& key, const char* why) {
    auto said = enrolment(world, pc, relay);
    change(said);
    auto request = good;
    request.proof = proof(said, key);
    const Error error = refusal(world, relay, request);
    CHECK(says(error.message, why));
    return error.kind;
  };
  const auto nothing = [](protocol::Enrolment&) {};
  CHECK(refused(nothing, other.key, "not signed by that key") == ErrorKind::untrusted);
  CHECK(refused([](auto& said) { said.project = std::string(64, '0'); }, pc.key, "another project") ==
        ErrorKind::untrusted);
  CHECK(refused([&](auto& said) { said.host_key = other.key.public_key(); }, pc.key, "of another host") ==
        ErrorKind::untrusted);
  CHECK(refused([](auto& said) { said.machine = crypto::sha256_hex("x"); }, pc.key, "of another host") ==
        ErrorKind::untrusted);
  CHECK(refused([](auto& said) { said.relay.reset(); }, pc.key, "joins directly") == ErrorKind::untrusted);
  CHECK(refused([](auto& said) { said.tls_key = crypto::sha256_hex("x"); }, pc.key, "another TLS key") ==
        ErrorKind::untrusted);
  for (const char* made_up : {"", "a nonce of the host's own"})
    CHECK(refused([&](auto& said) { said.nonce = made_up; }, pc.key, "nonce") == ErrorKind::untrusted);
  auto none = good;
  none.proof.reset();
  CHECK(says(refusal(world, relay, none).message, "is missing"));
  auto changed = good;
  changed.proof->payload.back() = ' ';
  CHECK(refusal(world, relay, changed).kind == ErrorKind::untrusted);
  auto stands_in = good;  // what it signed for another purpose
  stands_in.proof = crypto::sign_statement(StatementType::delivery, good.proof->payload, pc.key);
  CHECK(refusal(world, relay, stands_in).kind == ErrorKind::untrusted);
  // For one relay, and used by another.
  CHECK(says(refusal(world, second, good).message, "is not this relay"));
  const TestHost plain = world.add_host("plain");
  CHECK(says(refusal(world, plain.id, passed_on(world, pc, plain.id)).message, "not a relay"));

  const HostId host = must(join(world, relay, good)).host;
  CHECK(must(join(world, relay, good)).host == host);  // the reply was lost
  const auto info = show(world, host);
  CHECK(info.relay == relay);
  CHECK(info.code == "lab");
  CHECK(relays(world).at(1).hosts == 1);
  world.restart();
  CHECK(show(world, host).relay == relay);
  (void)world.memory();
  // It has no token: nobody has.
  CHECK(world.look<bool>([host](service::Transaction& tx) {
    return tx.model.hosts.at(host).row.token_digest != crypto::sha256("");
  }));
  // It left; what it said before does not bring it back.
  must(World::wait_done([&](auto done) { world.service().relays().leave(second, host, std::move(done)); }));
  CHECK(show(world, host).state == protocol::HostState::active);
  must(World::wait_done([&](auto done) { world.service().relays().leave(relay, host, std::move(done)); }));
  CHECK(show(world, host).state == protocol::HostState::left);
  CHECK(says(refusal(world, relay, good).message, "was used already, or is older"));
  world.clock().advance(std::chrono::seconds{1});
  CHECK(add_child(world, pc, relay) == host);
}

TEST_CASE("a known host moves under a relay, and comes back with its record when it joins itself") {
  World world;
  world.add_application();
  const Computer lab{"lab"}, pc{"pc"};
  const auto first = must(world.enrol(pc.request(world)));
  const ProblemId problem = world.add_problem(9);
  auto request = world.work_request(1);
  auto grants = world.grants(first.host);
  world.finish(grants.front());
  const auto items = show(world, first.host).items_accepted;
  REQUIRE(items > 0);
  if (world.show(problem).free > 0) (void)world.grants(first.host);
  const HostId relay = add_relay(world, lab, 5);

  world.clock().advance(std::chrono::seconds{1});
  const auto moving = passed_on(world, pc, relay);
  with_each_failure(world, [&](World& w) -> Status {
    CHECK(w.service().enrolment().authenticate_host(first.token).ok());
    return status_of(join(w, relay, moving));
  });
  CHECK(!world.service().enrolment().authenticate_host(first.token).ok());
  CHECK(show(world, first.host).relay == relay);
  CHECK(show(world, first.host).code == "default");
  CHECK(show(world, first.host).items_accepted == items);
  CHECK(show(world, first.host).open_units == 0);
  CHECK(world.show(problem).free == 9 - items);
  world.restart();
  CHECK(!world.service().enrolment().authenticate_host(first.token).ok());

  world.clock().advance(std::chrono::seconds{1});
  const auto back = must(world.enrol(pc.request(world)));
  CHECK(back.host == first.host);
  CHECK(world.service().enrolment().authenticate_host(back.token).ok());
  CHECK(!show(world, back.host).relay);
  CHECK(show(world, back.host).items_accepted == items);
  CHECK(relays(world).front().hosts == 0);
  // Its relay has still what it said then, and cannot take it back with that.
  CHECK(says(refusal(world, relay, moving).message, "was used already, or is older"));
  CHECK(world.service().enrolment().authenticate_host(back.token).ok());
  // Nor is who may not join let in through a relay.
  revoke(world, back.host, false);
  world.clock().advance(std::chrono::seconds{1});
  CHECK(says(refusal(world, relay, passed_on(world, pc, relay)).message, "revoked this computer"));
}

TEST_CASE("a relay has as many hosts under it as were allowed, those under relays under it included") {
  World world;
  const Computer top{"top"}, low{"low"};
  const HostId relay = add_relay(world, top, 3);
  const Bytes secret = secret_for_relay(world, "low", 5);
  auto joining = relay_request(world, low, crypto::random_secret(16));
  joining = world.proven(joining, relay);
  CHECK(says(refusal(world, relay, joining).message, "secret of this join code is not valid"));
  joining.secret = secret;
  const auto reply = must(join(world, relay, joining));
  const HostId below = reply.host;
  CHECK(checked(world, reply.certificate.value()).relay == below);
  CHECK(checked(world, must(certificate(world, relay, below))).name == "low");
  CHECK(certificate(world, below, relay).error().kind == ErrorKind::forbidden);

  // What the lower one passes up comes from the upper one.
  const Computer a{"a"}, b{"b"}, c{"c"}, d{"d"};
  CHECK(must(join(world, relay, passed_on(world, a, below))).host != below);
  add_child(world, b, relay);
  for (const HostId place : {below, relay})
    CHECK(says(refusal(world, relay, passed_on(world, c, place)).message, "has 3 hosts under it, of 3"));
  // Moving within it takes no more room.
  world.clock().advance(std::chrono::seconds{1});
  add_child(world, a, relay);
  const auto told = relays(world);
  CHECK(told.at(0).name == "low");
  CHECK(told.at(0).hosts == 0);
  CHECK(told.at(0).relay == relay);
  CHECK(told.at(1).hosts == 3);
  // Who left makes room, but not for ever: a relay could make up hosts without end.
  const auto leave = [&](HostId host) {
    must(World::wait_done([&](auto done) { world.service().relays().leave(relay, host, std::move(done)); }));
  };
  HostId last = add_child(world, b, relay);
  for (int i = 0; i < 28; ++i) {  // a, which came from the lower one, counts
    leave(last);
    last = add_child(world, Computer{"made up " + std::to_string(i)}, relay);
  }
  leave(last);
  CHECK(says(refusal(world, relay, passed_on(world, d, relay)).message, "allow another relay"));

  // A relay is not under itself, whoever says so.
  const auto circle = world.proven(relay_request(world, top, {}), below);
  CHECK(says(refusal(world, relay, circle).message, "cannot be under itself"));
}

TEST_CASE(
    "how many hosts may be under a relay is changed before it joins and after, and who is there stays") {
  World world;
  const auto set = [&](const char* name, std::int64_t children) {
    return World::wait<protocol::RelayInfo>([&](auto done) {
      world.service().relays().set_quota(name, protocol::RelayQuota{children}, std::move(done));
    });
  };
  const Computer top{"top"}, a{"a"}, b{"b"}, c{"c"};
  const Bytes secret = secret_for_relay(world, "top", 5);
  CHECK(must(set("top", 1)).state == "allowed");
  CHECK(set("nobody", 1).error().kind == ErrorKind::not_found);
  CHECK(set("default", 1).error().kind == ErrorKind::not_found);
  const HostId relay = must(world.enrol(relay_request(world, top, secret))).host;
  add_child(world, a, relay);
  CHECK(says(refusal(world, relay, passed_on(world, b, relay)).message, "has 1 hosts under it, of 1"));
  CHECK(must(set("top", 2)).hosts == 1);
  world.restart();
  const HostId last = add_child(world, b, relay);
  CHECK(checked(world, must(certificate(world, relay, relay))).children == 2);
  const auto fewer = must(set("top", 1));
  CHECK(fewer.hosts == 2);
  CHECK(fewer.children == 1);
  must(World::wait_done([&](auto done) { world.service().relays().leave(relay, last, std::move(done)); }));
  CHECK(says(refusal(world, relay, passed_on(world, c, relay)).message, "has 1 hosts under it, of 1"));
  must(set("top", 2));
  add_child(world, c, relay);
}

TEST_CASE("who was under a relay that is put out has left with it, and joins again") {
  World world;
  const Computer top{"top"}, low{"low"}, pc{"pc"}, more{"more"}, b{"b"};
  const HostId relay = add_relay(world, top, 9);
  const auto joining = world.proven(relay_request(world, low, secret_for_relay(world, "low", 5)), relay);
  const HostId below = must(join(world, relay, joining)).host;
  const HostId host = must(join(world, relay, passed_on(world, pc, below))).host;
  const HostId beside = add_child(world, more, relay);
  with_each_failure(world, [&](World& w) -> Status {
    return status_of(World::wait<protocol::HostInfo>(
        [&](auto done) { w.service().hosts().revoke(relay, {false}, std::move(done)); }));
  });
  for (const HostId each : {below, host, beside}) {
    CHECK(show(world, each).state == protocol::HostState::left);
    CHECK(!show(world, each).relay);
    CHECK(says(show(world, each).state_reason, "was under the relay"));
  }
  CHECK(says(show(world, beside).state_reason, "was under the relay top (host 1), which was revoked"));
  world.restart();
  world.clock().advance(std::chrono::seconds{1});
  CHECK(says(refusal(world, relay, passed_on(world, more, relay)).message, "not a relay"));
  const HostId other = add_relay(world, b, 3);
  CHECK(add_child(world, more, other) == beside);
  CHECK(must(world.enrol(pc.request(world))).host == host);
  // One that joins as an ordinary host is no relay any more.
  CHECK(must(world.enrol(b.request(world))).host == other);
  CHECK(show(world, beside).state == protocol::HostState::left);
  CHECK(certificate(world, other, other).error().kind == ErrorKind::forbidden);
}

TEST_CASE("a host under a relay is none of those that the project can ask for an opinion") {
  World world;
  world.add_application();
  const ProblemId problem = world.add_problem(3);
  const Computer lab{"lab"}, pc{"pc"};
  const HostId relay = add_relay(world, lab, 5);
  must(world.enrol(pc.request(world)));
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) (void)world.add_host(name);
  const auto opinions = [&] {
    return world.look<int>([problem](service::Transaction& tx) {
      return tx.model.project->verdict_terms(problem, tx.now).opinions_max;
    });
  };
  const int before = opinions();
  world.clock().advance(std::chrono::seconds{1});
  add_child(world, pc, relay);
  CHECK(opinions() == before - 1);
}

TEST_CASE("at most eight relays are above a host") {
  World world;
  HostId top, above;
  for (int depth = 1; depth <= 10; ++depth) {
    const Computer computer{"relay " + std::to_string(depth)};
    const Bytes secret = secret_for_relay(world, "r" + std::to_string(depth), 100);
    if (depth == 1) {
      top = above = must(world.enrol(relay_request(world, computer, secret))).host;
      continue;
    }
    const auto reply = join(world, top, world.proven(relay_request(world, computer, secret), above));
    CHECK(reply.ok() == (depth <= 9));
    if (reply.ok()) above = reply->host;
    if (!reply.ok()) CHECK(says(reply.error().message, "8 relays above each other"));
  }
}

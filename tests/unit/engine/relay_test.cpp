// A host under a relay: what it takes, keeps and starts of what a relay grants.
#include <algorithm>

#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/engine/fake_relay.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;
using protocol::FailureKind;

bool refused(World& world) {
  return world.run_until([&] { return world.server.failures.size() == 1 && world.nothing_in_hand(); }, 100ms);
}

TEST_CASE("A part of a relay's lease is computed, whether it says all of it or names its context") {
  World world;
  world.server.says_once = GENERATE(true, false);
  FakeRelay relay(world.server, HostId{90});
  FakeRelay below(world.server, HostId{91});
  relay.child = below.certificate.relay;
  Granted deep = below.lease_on(relay.lease({0, 40}, {10, 30}), {12, 17});
  relay.child = world.server.host;
  const Granted near = relay.lease({0, 40}, {5, 8});
  world.server.queue_granted(near);
  world.server.queue_granted(deep);
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({5, 8}) && world.has_all({12, 17}); }, 100ms));
  CHECK(world.server.items.size() == 8);
  CHECK(world.server.failures.empty());
}

TEST_CASE("One lease serves several grants of a reply, and each finds its own") {
  FakeServer server;
  server.set_application(script_kernel());
  FakeRelay relay(server, HostId{90});
  const Granted first = relay.lease({0, 40}, {5, 8});
  Granted second = relay.sign(first.of_project(), {}, relay.part_of({20, 22}));
  second.lease.reset();  // the first one's will do
  protocol::WorkReply reply;
  reply.grants = {second.statement, first.statement};
  reply.leases = {*relay.lease({50, 60}, {50, 52}).lease, *first.lease};
  const auto granted = granted_in(reply);
  REQUIRE(granted.size() == 2);
  for (const Granted& one : granted) {
    REQUIRE(one.lease);
    CHECK(one.of_project().payload == first.of_project().payload);
    CHECK(read_granted(one).ok());
  }
  reply.leases.reset();
  CHECK(read_granted(granted_in(reply)[0]).error().kind == ErrorKind::untrusted);
}

TEST_CASE("What a relay may not grant is refused, and no kernel is started") {
  World world;
  FakeRelay relay(world.server, HostId{90});
  Granted granted = relay.lease({0, 40}, {10, 30});
  const protocol::SignedStatement above = granted.of_project();
  SECTION("items that it does not have") {
    granted = relay.sign(above, {}, relay.part_of({30, 41}));
  }
  SECTION("to another host") {
    relay.child = HostId{8};
    granted = relay.sign(above, {}, relay.part_of({10, 30}));
  }
  SECTION("without its lease") {
    granted.lease.reset();
  }
  SECTION("with another relay's lease") {
    FakeRelay other(world.server, HostId{91});
    granted = other.sign(above, {}, other.part_of({10, 30}));
  }
  SECTION("with a key of its own making") {
    relay.key = crypto::PrivateKey::generate();
    granted = relay.sign(above, {}, relay.part_of({10, 30}));
  }
  SECTION("with a certificate that ran out") {
    relay.certificate.not_after = world.server.now - 10min;
    granted = relay.sign(above, {}, relay.part_of({10, 30}));
  }
  SECTION("parameters of its own") {
    auto grant = world.server.make_grant({0, 40});
    grant.host = relay.certificate.relay;
    grant.parameters = R"({"length":6})";
    grant.parameters_digest = crypto::sha256_hex(grant.parameters);
    const auto own =
        crypto::sign_statement(protocol::StatementType::grant, protocol::encode(grant), relay.key);
    granted = relay.sign(own, {}, relay.part_of({10, 30}));
  }
  SECTION("the project's grant to itself, as it is") {
    granted.statement = above;
    granted.lease.reset();
  }
  world.server.queue_granted(granted);
  world.start();
  REQUIRE(refused(world));
  CHECK(world.server.failures[0].kind == FailureKind::untrusted);
  CHECK(world.server.failures[0].unit.valid());
  CHECK(world.launcher.started == 0);
}

TEST_CASE("A relay's lease is kept with the unit, and checked anew after a restart") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  FakeRelay relay(world.server, HostId{90});
  world.server.queue_granted(relay.lease({0, 100}, {10, 60}));
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 15; }));
  world.run_for(200ms, 20ms);
  world.kill();
  const io::Path lease = world.project / "units/1001/lease.json";
  REQUIRE(std::filesystem::exists(lease));
  SECTION("it holds") {
    world.start();
    CHECK(world.engine->status().units_in_hand == 1);
    REQUIRE(world.run_until([&] { return world.has_all({10, 60}) && world.nothing_in_hand(); }));
  }
  SECTION("it was changed") {
    auto chain =
        protocol::decode<protocol::LeaseChain>(io::real_files().read(lease, 1 << 20).value()).value();
    const int started = world.launcher.started;
    SECTION("a certificate of somebody else") {
      FakeServer stranger;
      chain.statements[0] = FakeRelay(stranger, HostId{90}).signed_certificate();
    }
    SECTION("a signature") {
      chain.statements[1].signature[3] ^= 1;
    }
    REQUIRE(io::real_files().write(lease, protocol::encode(chain), io::Mode::secret).ok());
    world.start();
    REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 100ms));
    CHECK(world.server.failures[0].kind == FailureKind::untrusted);
    CHECK(world.launcher.started == started);
  }
  SECTION("it is gone: what cannot be read is dropped") {
    REQUIRE(io::real_files().remove(lease).ok());
    world.start();
    CHECK(world.engine->status().units_in_hand == 0);
  }
}

TEST_CASE("What a relay granted ends when its key is revoked, its TLS key, or who certified it") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  FakeRelay relay(world.server, HostId{90});
  world.server.queue_granted(relay.lease({0, 1000}, {10, 600}));
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 12; }));
  SECTION("its key") {
    world.server.revoke([&](auto& list) { list.keys = {{relay.certificate.key, "stolen"}}; });
  }
  SECTION("its TLS key") {
    world.server.revoke([&](auto& list) { list.tls_keys = {{relay.certificate.tls_key, "stolen"}}; });
  }
  SECTION("the work key that certified it") {
    const Bytes stolen = world.server.work_key();
    world.server.rotate_work_key();
    world.server.revoke([&](auto& list) { list.keys = {{stolen, "stolen"}}; });
  }
  REQUIRE(world.run_until([&] { return world.nothing_in_hand(); }, 200ms));
  CHECK(world.server.items.size() < 590);
}

TEST_CASE(
    "A lease by a work key that is not known has the document fetched once, and then counts or does not") {
  World world;
  FakeRelay relay(world.server, HostId{90});
  world.start();
  REQUIRE(world.run_until([&] { return !world.server.work.empty(); }));
  const auto fetched = [&] {
    return std::count(world.server.requests.begin(), world.server.requests.end(), "GET /v1/project");
  };
  const auto before = fetched();
  SECTION("a new one") {
    world.server.rotate_work_key();
    world.server.queue_granted(relay.lease({0, 40}, {5, 8}));
    REQUIRE(world.run_until([&] { return world.has_all({5, 8}); }, 100ms));
  }
  SECTION("strangers', two of them") {
    FakeServer one;
    FakeServer two;
    Granted granted = relay.lease({0, 40}, {5, 8});
    granted.lease->statements[0] = FakeRelay(one, HostId{90}).signed_certificate();
    auto grant = two.sign(protocol::StatementType::grant, granted.of_project().payload);
    granted.of_project() = grant;
    world.server.queue_granted(granted);
    REQUIRE(refused(world));
  }
  world.run_for(30s, 200ms);
  CHECK(fetched() == before + 1);
}

TEST_CASE("A relay's certificate is renewed when half of its period is over, and its new TLS key with it") {
  World world;
  FakeRelay relay(world.server, HostId{90});
  world.relay = relay.signed_certificate();
  world.server.relay = world.relay;
  world.server.tls_key = relay.certificate.tls_key;
  world.start();
  const auto asked = [&] {
    return std::count(world.server.requests.begin(), world.server.requests.end(), "GET /v1/relay");
  };
  REQUIRE(world.run_until([&] { return asked() == 1 && !world.server.work.empty(); }, 100ms));
  CHECK(world.pinned->digest() == relay.certificate.tls_key);
  world.run_for(14 * 24h, 2h);
  CHECK(asked() == 1);
  relay.certificate.tls_key = crypto::sha256_hex("its next TLS key");
  relay.certificate.not_after = world.clock.now() + 24h * 30;
  relay.certificate.not_before = world.clock.now();
  const auto certificate = relay.signed_certificate();
  SECTION("it brings it") {
    world.server.tls_key = relay.certificate.tls_key;
    world.server.relay = certificate;
    world.run_for(3 * 24h, 2h);
    CHECK(asked() == 2);
    CHECK(world.pinned->digest() == relay.certificate.tls_key);
    CHECK(state::load_identity(world.files, {world.project}).error().kind == ErrorKind::not_found);
    const auto kept = io::real_files().read(world.project / "identity/relay.json", 1 << 20);
    CHECK(kept.value() == protocol::encode(certificate));
  }
  SECTION("somebody else has another key certified for it, and shows his own") {
    world.server.tls_key = crypto::sha256_hex("of somebody in between");
    world.server.relay = certificate;
    world.run_for(3 * 24h, 2h);
    CHECK(asked() > 2);
    CHECK(world.pinned->digest() == crypto::sha256_hex("the key of the relay's port"));
  }
  SECTION("another relay is in its place") {
    FakeRelay other(world.server, HostId{91});
    world.server.tls_key = other.certificate.tls_key = relay.certificate.tls_key;
    world.server.relay = other.signed_certificate();
    world.run_for(3 * 24h, 2h);
    CHECK(world.pinned->digest() == crypto::sha256_hex("the key of the relay's port"));
  }
}

TEST_CASE("A relay that shows another TLS key is asked who it is, and gone on with if the project says so") {
  World world;
  FakeRelay relay(world.server, HostId{90});
  world.relay = relay.signed_certificate();
  world.server.relay = world.relay;
  world.server.tls_key = relay.certificate.tls_key;
  // As the connection's own check: but for what is signed, nothing goes to a key that is not pinned.
  world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.headers.empty() || world.pinned->digest() == world.server.tls_key) return std::nullopt;
    return Error{ErrorKind::untrusted, "it does not belong to the project of the join code"};
  };
  world.start();
  REQUIRE(world.run_until([&] { return !world.server.work.empty(); }, 100ms));
  relay.certificate.tls_key = world.server.tls_key = crypto::sha256_hex("its next TLS key");
  world.server.relay = relay.signed_certificate();
  world.server.queue_granted(relay.lease({0, 40}, {5, 8}));
  world.run_for(10min, 1s);
  CHECK(world.has_all({5, 8}));
}

}  // namespace
}  // namespace gleaner::engine::testing

#include "server/service/core/revocations.h"
#include "server/service/work/revocation_watch.h"

#include "shared/bundle/project_keys.h"
#include "shared/crypto/tls_identity.h"
#include "tests/unit/service/relay_enrolment.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

// The offline side of a World.
class Root {
 public:
  explicit Root(World& world)
      : world_(world),
        root_(must(bundle::read_key_file(io::real_files(),
                                         world.directory().parent_path() / "offline" / "root.key"))) {
    list_.project = bundle::project_id(root_.public_key());
  }

  // As an administrator copies it to the server.
  void publish(std::int64_t number, const std::function<void(protocol::RevocationList&)>& change) {
    list_.number = number;
    list_.issued_at = world_.clock().now();
    change(list_);
    write(protocol::encode(
        crypto::sign_statement(protocol::StatementType::revocations, protocol::encode(list_), root_)));
  }
  void write(const std::string& text) const {
    must(io::real_files().write(world_.project().revocations(), text, io::Mode::normal));
  }

 private:
  World& world_;
  crypto::PrivateKey root_;
  protocol::RevocationList list_;
};

std::string archive_of(World& world) {
  return world.look<std::string>(
      [](Transaction& tx) { return tx.model.applications.begin()->second.row.archive; });
}

std::int64_t in_document(World& world) {
  const auto document =
      must(protocol::decode<protocol::ProjectDocument>(world.service().enrolment().project().payload));
  if (!document.revocations) return 0;
  return must(protocol::decode<protocol::RevocationList>(document.revocations->payload)).number;
}

std::int64_t in_answers(World& world, const TestHost& host) {
  const auto work = must(world.work(host.id, world.work_request()));
  const auto heartbeat = must(World::wait<protocol::HeartbeatReply>(
      [&](auto done) { world.service().work().heartbeat(host.id, {}, std::move(done)); }));
  CHECK(work.revocations == heartbeat.revocations);
  return work.revocations.value_or(0);
}

}  // namespace

TEST_CASE("a list is published as soon as its file is there, and only a newer one replaces it") {
  World world;
  Root root(world);
  const TestHost host = world.add_host();
  CHECK(in_document(world) == 0);
  CHECK(in_answers(world, host) == 0);
  root.publish(5, [](auto&) {});
  world.tick();
  CHECK(in_document(world) == 5);
  CHECK(in_answers(world, host) == 5);

  root.publish(4, [](auto&) {});
  world.tick();
  CHECK(in_document(world) == 5);
  root.write("{ half a fi");
  world.tick();
  CHECK(in_document(world) == 5);

  // Neither an older file nor none takes anything back over a restart.
  root.publish(3, [](auto&) {});
  world.restart();
  CHECK(in_document(world) == 5);
  std::filesystem::remove(world.project().revocations());
  world.restart();
  CHECK(in_answers(world, host) == 5);
  root.publish(6, [](auto&) {});
  world.restart();
  CHECK(in_document(world) == 6);
  CHECK(in_answers(world, host) == 6);
}

TEST_CASE("another root key's list is not published") {
  World world, other;
  Root root(other);
  root.publish(9, [](auto&) {});
  std::filesystem::copy_file(other.project().revocations(), world.project().revocations());
  world.tick();
  CHECK(in_document(world) == 0);
  world.restart();
  CHECK(in_document(world) == 0);
}

TEST_CASE("problems of a revoked application stop, until another version takes over") {
  World world;
  Root root(world);
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId id = world.add_problem(100);
  REQUIRE(world.grants(host.id).size() == 1);
  const std::string archive = archive_of(world);
  root.publish(1, [&](auto& list) { list.applications = {{archive, "it lies"}}; });
  const bool restarted = GENERATE(false, true);
  if (restarted)
    world.restart();
  else
    world.tick();
  CHECK(world.show(id).state == protocol::ProblemState::stopped);
  says(world.show(id).message, "it lies");
  CHECK(must(world.work(host.id, world.work_request())).grants.empty());
  for (const auto action : {Problems::Action::resume, Problems::Action::retry}) {
    const auto refused = world.change(id, action);
    REQUIRE_FALSE(refused.ok());
    says(refused.error().message, "revoked");
  }
  protocol::AddProblem more;
  more.application = "numbers";
  more.parameters = "{\"count\": 3}";
  says(world.try_add_problem(more).error().message, "revoked");

  ManagerOptions mended;
  mended.version = "1.0.1";
  mended.compatible_with = "1.0.0";
  world.add_application(mended);
  (void)must(World::wait<protocol::ProblemInfo>([&](auto done) {
    world.service().problems().change_application(id, {"numbers@1.0.1"}, std::move(done));
  }));
  CHECK(world.show(id).state == protocol::ProblemState::running);
  CHECK(world.grants(host.id).size() == 1);
}

TEST_CASE("what is revoked is not added") {
  World world;
  Root root(world);
  root.publish(1, [](auto& list) { list.minimum_versions = {{"numbers", "1.1", "holes"}}; });
  world.tick();
  const auto add = [&](const char* version) {
    ManagerOptions options;
    options.version = version;
    const auto request = world.application(options);
    return World::wait<protocol::ApplicationInfo>(
        [&](auto done) { world.service().applications().add(request, std::move(done)); });
  };
  says(add("1.0.9").error().message, "holes");
  CHECK(add("1.1").ok());
}

TEST_CASE("a server whose own keys are revoked does not start") {
  World world;
  Root root(world);
  const bool tls = GENERATE(false, true);
  const auto secrets = must(read_secrets(io::real_files(), world.project(), world.clock().now()));
  root.publish(1, [&](auto& list) {
    if (tls)
      list.tls_keys = {{must(crypto::tls_key_digest(secrets.tls_chain_pem)), "stolen"}};
    else
      list.keys = {{secrets.work_key.public_key(), "stolen"}};
  });
  // While it runs it tells those who still listen.
  world.tick();
  CHECK(in_document(world) == 1);
  auto store =
      must(storage::open_sqlite_store(world.directory().parent_path() / "other", storage::OpenCheck::none));
  const auto opened =
      Service::open({world.project(), Configuration{}}, secrets,
                    {io::real_files(), io::real_processes(), world.clock()}, std::move(store));
  REQUIRE_FALSE(opened.ok());
  says(opened.error().message, "keys rotate");
}

TEST_CASE("whatever fails while a list is taken, memory and store agree") {
  World world;
  Root root(world);
  world.add_application();
  (void)world.add_problem(10);
  const std::string archive = archive_of(world);
  root.publish(1, [&](auto& list) { list.applications = {{archive, ""}}; });
  const auto list = must(bundle::read_revocations(
      io::real_files(), world.project().revocations(),
      crypto::fingerprint(
          must(read_secrets(io::real_files(), world.project(), world.clock().now())).root_key)));
  with_each_failure(world, [&](World& here) {
    return status_of(World::wait<bool>([&](Done<bool> done) {
      here.service().kernel().decide<bool>(
          [&](Transaction& tx, Result<bool>& taken) {
            taken = true;
            return take_revocations(tx, list);
          },
          std::move(done));
    }));
  });
  CHECK(world.look<std::int64_t>([](Transaction& tx) { return tx.model.revocations.number(); }) == 1);
}

TEST_CASE("a relay whose key or TLS key is revoked is neither admitted nor certified again") {
  World world;
  Root root(world);
  auto request = relay_request(world, {"lab"}, secret_for_relay(world, "lab", 2));
  const HostId relay = must(world.enrol(request)).host;
  const auto certified = [&] {
    return World::wait<protocol::SignedStatement>(
        [&](auto done) { world.service().relays().certificate(relay, relay, std::move(done)); });
  };
  must(certified());
  const bool tls = GENERATE(true, false);
  root.publish(5, [&](protocol::RevocationList& list) {
    if (tls)
      list.tls_keys.push_back({request.relay->tls_key, "stolen"});
    else
      list.keys.push_back({request.host_key, "stolen"});
  });
  world.tick();
  CHECK(certified().error().kind == ErrorKind::untrusted);
  CHECK(world.enrol(request).error().kind == ErrorKind::untrusted);
  request.relay->tls_key = crypto::sha256_hex("a new one");
  CHECK(world.enrol(request).ok() == tls);
  CHECK(certified().ok() == tls);
}

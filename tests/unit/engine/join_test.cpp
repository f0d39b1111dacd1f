#include "client/join/join.h"

#include <sys/stat.h>

#include <algorithm>

#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/engine/fake_relay.h"
#include "tests/unit/engine/world.h"
#include "tests/unit/says.h"

namespace gleaner::engine::testing {
namespace {

joining::JoinFacts named(const std::string& name) {
  joining::JoinFacts facts;
  facts.name = name;
  return facts;
}

struct Joining {
  World world;
  FakeServerClient http{world.server};
  state::ProjectDirectory state{world.project};
  Result<state::Identity> join(const protocol::JoinCode& code) {
    return joining::join({http}, world.files, world.machine, state, code, {}, world.clock.now());
  }
};

TEST_CASE("Joining stores an identity that only its owner can read, and is idempotent") {
  Joining joining;
  const auto joined = joining.join(joining.world.server.join_code());
  INFO((joined.ok() ? "" : joined.error().message));
  REQUIRE(joined.ok());
  CHECK(joined->host.host == HostId{7});
  for (const char* name : {"host.json", "host.key", "join-code"}) {
    struct stat facts {};
    REQUIRE(::stat((joining.world.project / "identity" / name).c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
  }
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  const auto& asked = joining.world.server.requests;
  CHECK(asked.back() == "POST /v1/heartbeat");  // whether it is still taken
  CHECK(std::count(asked.begin(), asked.end(), "POST /v1/enrol") == 1);
  const auto loaded = state::load_identity(joining.world.files, joining.state);
  REQUIRE(loaded.ok());
  CHECK(loaded->host.token == "token");
  CHECK(loaded->name == "test-host");
}

TEST_CASE("Who was put out and has not heard of it joins anew with the same code; who is banned does not") {
  Joining joining;
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  int status = 403, enrolled = 200;
  joining.world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    const bool enrols = request.url.ends_with("/v1/enrol");
    if (!enrols && !request.url.ends_with("/v1/heartbeat")) return std::nullopt;
    const int answer = enrols ? enrolled : status;
    if (answer == 200) return std::nullopt;
    return problem_reply(answer, "the administrator put it out");
  };
  const auto times = [&] {
    const auto& asked = joining.world.server.requests;
    return std::count(asked.begin(), asked.end(), "POST /v1/enrol");
  };
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  CHECK(times() == 2);
  enrolled = 403;
  CHECK_FALSE(joining.join(joining.world.server.join_code()).ok());
  CHECK(state::load_identity(joining.world.files, joining.state).ok());
  status = 503;  // no word from the server says nothing
  CHECK(joining.join(joining.world.server.join_code()).ok());
}

TEST_CASE("Another address of the project is asked, too, whether it still takes the host") {
  Joining joining;
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  auto code = joining.world.server.join_code();
  code.host = "elsewhere.test";
  int status = 403;
  joining.world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    const bool asks = request.url.ends_with("/v1/heartbeat") || request.url.ends_with("/v1/enrol");
    if (!asks || status == 200) return std::nullopt;
    CHECK(says(request.url, "elsewhere.test"));
    return problem_reply(status, "this computer is banned");
  };
  CHECK_FALSE(joining.join(code).ok());
  CHECK(state::load_identity(joining.world.files, joining.state)->code.host != "elsewhere.test");
  status = 200;
  CHECK(joining.join(code).ok());
  CHECK(state::load_identity(joining.world.files, joining.state)->code.host == "elsewhere.test");
}

TEST_CASE("Another code of the same server is shown to it, and nothing changes until that takes it") {
  Joining joining;
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  auto other = joining.world.server.join_code();
  other.enrolment_secret = Bytes(16, 'o');
  std::vector<Bytes> secrets;
  bool refuse = true;
  joining.world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (!request.url.ends_with("/v1/enrol")) return std::nullopt;
    secrets.push_back(protocol::decode<protocol::EnrolRequest>(request.body)->secret);
    if (refuse) return problem_reply(403, "this join code was withdrawn: ask the administrator");
    return std::nullopt;
  };
  CHECK_FALSE(joining.join(other).ok());
  const auto before = state::load_identity(joining.world.files, joining.state);
  REQUIRE(before.ok());
  CHECK(before->code.enrolment_secret == joining.world.server.join_code().enrolment_secret);
  refuse = false;
  REQUIRE(joining.join(other).ok());
  CHECK(secrets == std::vector<Bytes>{other.enrolment_secret, other.enrolment_secret});
  CHECK(state::load_identity(joining.world.files, joining.state)->code.enrolment_secret ==
        other.enrolment_secret);
  REQUIRE(joining.join(other).ok());
  CHECK(secrets.size() == 2);  // nothing to ask
}

TEST_CASE("Each way a joining fails says what to do") {
  Joining joining;
  SECTION("unreachable") {
    joining.world.server.before = [](const io::HttpRequest&) {
      return std::optional<Result<io::HttpReply>>(Error{ErrorKind::unavailable, "connection refused"});
    };
    const auto joined = joining.join(joining.world.server.join_code());
    REQUIRE_FALSE(joined.ok());
    CHECK(joined.error().kind == ErrorKind::unavailable);
    CHECK(joined.error().message.find("check the network") != std::string::npos);
  }
  SECTION("another server") {
    FakeServer other;
    auto code = joining.world.server.join_code();
    code.root_fingerprint = other.join_code().root_fingerprint;
    const auto joined = joining.join(code);
    REQUIRE_FALSE(joined.ok());
    CHECK(joined.error().kind == ErrorKind::untrusted);
    CHECK(joined.error().message.find("not the server of this join code") != std::string::npos);
  }
  SECTION("wrong secret") {
    joining.world.server.before = [](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
      if (!request.url.ends_with("/v1/enrol")) return std::nullopt;
      return problem_reply(403, "this join code was withdrawn: ask the administrator");
    };
    const auto joined = joining.join(joining.world.server.join_code());
    REQUIRE_FALSE(joined.ok());
    CHECK(joined.error().message.starts_with(
        "cannot join: this join code was withdrawn: ask the administrator"));
  }
  CHECK(state::load_identity(joining.world.files, joining.state).error().kind == ErrorKind::not_found);
}

TEST_CASE(
    "A lost answer is repeated with the same key; another project needs leaving first; a revoked host keeps "
    "its key and results") {
  Joining joining;
  std::vector<Bytes> keys;
  bool lose = true;
  joining.world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (!request.url.ends_with("/v1/enrol")) return std::nullopt;
    keys.push_back(protocol::decode<protocol::EnrolRequest>(request.body)->host_key);
    if (lose) return Error{ErrorKind::unavailable, "reset"};
    return std::nullopt;
  };
  CHECK_FALSE(joining.join(joining.world.server.join_code()).ok());
  lose = false;
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  CHECK(keys.at(0) == keys.at(1));
  FakeServer other;
  const auto elsewhere = joining.join(other.join_code());
  REQUIRE_FALSE(elsewhere.ok());
  CHECK(elsewhere.error().kind == ErrorKind::conflict);
  REQUIRE(state::mark_revoked(joining.world.files, joining.state).ok());
  std::filesystem::create_directories(joining.world.project / "units/5");  // a result that waits
  lose = true;
  CHECK_FALSE(joining.join(joining.world.server.join_code()).ok());
  CHECK(state::load_identity(joining.world.files, joining.state)->revoked);
  CHECK(std::filesystem::exists(joining.world.project / "units/5"));
  lose = false;
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  CHECK(keys.at(2) == keys.at(1));  // whether it may return is the server's to say
  CHECK(keys.at(3) == keys.at(1));
  CHECK(std::filesystem::exists(joining.world.project / "units/5"));
  CHECK_FALSE(state::load_identity(joining.world.files, joining.state)->revoked);
}

TEST_CASE("Another name and machine id change nothing about who a host is, nor what it is called") {
  Joining joining;
  World& world = joining.world;
  REQUIRE(joining::join({joining.http}, world.files, world.machine, joining.state, world.server.join_code(),
                        named("lab-mid"), world.clock.now())
              .ok());
  std::filesystem::create_directories(world.project / "units/5");
  world.machine.machine_id = "two";
  const auto before = world.server.requests.size();
  const auto confirmed = joining::finish_joining({joining.http}, world.files, world.machine, joining.state,
                                                 {}, world.clock.now());
  REQUIRE(confirmed.ok());
  CHECK(world.server.requests.size() == before);
  CHECK(confirmed->host.host == HostId{7});
  CHECK(std::filesystem::exists(world.project / "units/5"));
  // Also where it has to enrol again: with the key and the digest of before.
  world.server.host = HostId{8};
  const auto again =
      joining::join_again({joining.http}, world.files, world.machine, joining.state, {}, world.clock.now());
  REQUIRE(again.ok());
  CHECK(again->host.host == HostId{8});
  CHECK(again->former == std::vector{HostId{7}});
  REQUIRE(world.server.enrolments.size() == 2);
  CHECK(world.server.enrolments[1].name == "lab-mid");
  CHECK(world.server.enrolments[1].machine == world.server.enrolments[0].machine);
  CHECK(world.server.enrolments[1].host_key == world.server.enrolments[0].host_key);
  CHECK(std::filesystem::exists(world.project / "units/5"));
  CHECK(state::load_identity(world.files, joining.state)->former == std::vector{HostId{7}});
}

TEST_CASE("Who is not known again within a day has a double, and gets a key of its own") {
  Joining joining;
  World& world = joining.world;
  REQUIRE(joining.join(world.server.join_code()).ok());
  const auto again = [&] {
    return joining::join_again({joining.http}, world.files, world.machine, joining.state, {},
                               world.clock.now());
  };
  REQUIRE(again().ok());
  world.clock.advance(std::chrono::hours{25});
  REQUIRE(again().ok());
  world.clock.advance(std::chrono::hours{1});
  REQUIRE(again().ok());
  const auto& enrolments = world.server.enrolments;
  REQUIRE(enrolments.size() == 4);
  CHECK(enrolments[2].host_key == enrolments[0].host_key);
  CHECK(enrolments[3].host_key != enrolments[0].host_key);
}

TEST_CASE("A double that holds results delivers them as the host that it was, before it parts") {
  Joining joining;
  World& world = joining.world;
  REQUIRE(joining.join(world.server.join_code()).ok());
  const auto again = [&] {
    return joining::join_again({joining.http}, world.files, world.machine, joining.state, {},
                               world.clock.now());
  };
  REQUIRE(again().ok());
  REQUIRE(world.files.make_directories(joining.state.units() / "17").ok());
  REQUIRE(again().ok());
  CHECK(world.server.enrolments[2].host_key == world.server.enrolments[0].host_key);
  CHECK(state::load_identity(world.files, joining.state)->copy);
  REQUIRE(world.files.remove_all(joining.state.units() / "17").ok());
  REQUIRE(again().ok());
  CHECK(world.server.enrolments[3].host_key != world.server.enrolments[0].host_key);
}

TEST_CASE(
    "A copy goes by its computer's name, or by its number beside the name of the one it was copied from") {
  Joining joining;
  World& world = joining.world;
  const bool renamed = GENERATE(false, true);
  REQUIRE(joining.join(world.server.join_code()).ok());
  const std::string name = state::load_identity(world.files, joining.state)->name;
  REQUIRE(state::mark_copy(world.files, joining.state).ok());
  world.machine.machine_id = "two";
  if (renamed) world.machine.called = "pc-17";
  world.server.host = HostId{8};
  const auto own =
      joining::part({joining.http}, world.files, world.machine, joining.state, {}, world.clock.now());
  REQUIRE(own.ok());
  CHECK(world.server.enrolments.back().name == (renamed ? "pc-17" : name));
  CHECK(own->name == (renamed ? "pc-17" : name + " (8)"));
  CHECK(state::load_identity(world.files, joining.state)->name == own->name);
}

TEST_CASE("A copy joins once under one key of its own, however often that is interrupted") {
  Joining joining;
  World& world = joining.world;
  REQUIRE(joining.join(world.server.join_code()).ok());
  const Bytes shared = world.server.enrolments[0].host_key;
  REQUIRE(state::mark_copy(world.files, joining.state).ok());
  CHECK(state::load_identity(world.files, joining.state)->copy);
  world.machine.machine_id = "two";
  world.server.host = HostId{8};
  std::vector<Bytes> keys;
  bool lost = true;
  world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (!request.url.ends_with("/v1/enrol")) return std::nullopt;
    const auto enrolment = protocol::decode<protocol::EnrolRequest>(request.body).value();
    CHECK(enrolment.copy_of == HostId{7});
    keys.push_back(enrolment.host_key);
    if (lost) return Error{ErrorKind::unavailable, "reset"};
    return std::nullopt;
  };
  const auto part = [&] {
    return joining::part({joining.http}, world.files, world.machine, joining.state, {}, world.clock.now());
  };
  CHECK_FALSE(part().ok());
  CHECK_FALSE(part().ok());
  CHECK(state::load_identity(world.files, joining.state)->host.host == HostId{7});  // until it is somebody
  CHECK(state::load_identity(world.files, joining.state)->copy);
  lost = false;
  SECTION("the answer comes") {
    const auto own = part();
    REQUIRE(own.ok());
    CHECK(own->host.host == HostId{8});
  }
  SECTION("a kill between the answer and the end") {
    // The identity's last file is written last; what was begun is finished at the next start.
    world.files.before_change = [](std::string_view operation, const io::Path& path) -> Status {
      if (operation == "write" && path.filename() == "host.json")
        return Error{ErrorKind::io, "the machine stopped here"};
      return {};
    };
    CHECK_FALSE(part().ok());
    world.files.before_change = nullptr;
    world.server.before = nullptr;
    const auto own = joining::finish_joining({joining.http}, world.files, world.machine, joining.state, {},
                                             world.clock.now());
    REQUIRE(own.ok());
    CHECK(own->host.host == HostId{8});
    keys.push_back(world.server.enrolments.back().host_key);
  }
  for (const Bytes& key : keys) {
    CHECK(key == keys[0]);
    CHECK(key != shared);
  }
  const auto loaded = state::load_identity(world.files, joining.state);
  REQUIRE(loaded.ok());
  CHECK(loaded->host.host == HostId{8});
  CHECK(loaded->former == std::vector{HostId{7}});
  CHECK_FALSE(loaded->copy);
}

TEST_CASE("Leaving forgets everything, even if the server is away") {
  Joining joining;
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  joining.world.server.before = [](const io::HttpRequest&) {
    return std::optional<Result<io::HttpReply>>(Error{ErrorKind::unavailable, "down"});
  };
  REQUIRE(joining::leave(joining.http, joining.world.files, joining.state).ok());
  CHECK_FALSE(std::filesystem::exists(joining.world.project / "identity"));
  CHECK(joining::leave(joining.http, joining.world.files, joining.state).error().kind ==
        ErrorKind::not_found);
}

// The connection's own check, as a client does it that pins the project's root and a relay's key.
class CheckedClient final : public io::HttpClient {
 public:
  CheckedClient(FakeServer& server, const io::PinnedTlsKey& pinned) : server_(server), pinned_(pinned) {}
  Result<io::HttpReply> send(const io::HttpRequest& request) override {
    if (server_.relay && pinned_.digest() != server_.tls_key)
      return Error{ErrorKind::untrusted, "its chain does not end in the project's root"};
    return server_.handle(request);
  }

 private:
  FakeServer& server_;
  const io::PinnedTlsKey& pinned_;
};

struct JoiningRelay {
  World world;
  FakeRelay relay{world.server, HostId{90}};
  io::PinnedTlsKey pinned;
  FakeServerClient inquiring{world.server};
  CheckedClient http{world.server, pinned};
  state::ProjectDirectory state{world.project};

  JoiningRelay() { appear(); }
  void appear() {
    world.server.relay = relay.signed_certificate();
    world.server.tls_key = relay.certificate.tls_key;
  }
  Result<state::Identity> join() { return join(world.server.join_code()); }
  Result<state::Identity> join(const protocol::JoinCode& code) {
    return joining::join({http, &inquiring, &pinned}, world.files, world.machine, state, code, {},
                         world.clock.now());
  }
};

TEST_CASE("Who joins a relay pins its key before it says the secret, and proves to the project who joins") {
  JoiningRelay joining;
  const auto joined = joining.join();
  INFO((joined.ok() ? "" : joined.error().message));
  REQUIRE(joined.ok());
  CHECK(joining.pinned.digest() == joining.relay.certificate.tls_key);
  REQUIRE(joining.world.server.enrolments.size() == 1);
  const protocol::EnrolRequest& request = joining.world.server.enrolments[0];
  REQUIRE(request.proof);
  CHECK(crypto::check_signature(*request.proof, protocol::StatementType::enrolment).ok());
  CHECK(request.proof->key == request.host_key);
  const auto enrolment = protocol::decode<protocol::Enrolment>(request.proof->payload).value();
  CHECK(enrolment.project == joining.world.server.project_id());
  CHECK(enrolment.relay == HostId{90});
  CHECK(enrolment.host_key == request.host_key);
  CHECK(enrolment.machine == request.machine);
  CHECK(enrolment.nonce == "nonce 1");
  // What is kept is what a start pins, for as long as it holds.
  const auto loaded = state::load_identity(joining.world.files, joining.state);
  REQUIRE(loaded.ok());
  CHECK(state::relay_of(*loaded) == HostId{90});
  io::PinnedTlsKey again;
  state::pin_relay(*loaded, joining.world.clock.now(), &again);
  CHECK(again.digest() == joining.relay.certificate.tls_key);
  io::PinnedTlsKey late;
  state::pin_relay(*loaded, joining.world.clock.now() + std::chrono::hours{24 * 31}, &late);
  CHECK(late.digest().empty());
}

TEST_CASE("A server that does not take the proof is not taken for another server") {
  JoiningRelay joining;
  joining.world.server.before = [](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (!request.url.ends_with("/v1/enrol")) return std::nullopt;
    return problem_reply(422, "the proof was used already");
  };
  const auto joined = joining.join();
  REQUIRE_FALSE(joined.ok());
  CHECK(joined.error().kind == ErrorKind::conflict);
  CHECK(joined.error().message.find("the proof was used already") != std::string::npos);
  CHECK(joined.error().message.find("not the server of this join code") == std::string::npos);
}

TEST_CASE("Nothing secret is said to who is no relay of the project") {
  JoiningRelay joining;
  SECTION("a certificate of another project") {
    FakeServer stranger;
    joining.world.server.relay = FakeRelay(stranger, HostId{90}).signed_certificate();
  }
  SECTION("a certificate that ran out") {
    joining.relay.certificate.not_after = joining.world.server.now - std::chrono::minutes{6};
    joining.appear();
  }
  SECTION("a certificate for another TLS key than is shown") {
    joining.world.server.tls_key = crypto::sha256_hex("of somebody in between");
  }
  SECTION("a relay whose key was revoked") {
    joining.world.server.revoke([&](auto& list) { list.keys = {{joining.relay.certificate.key, "stolen"}}; });
  }
  SECTION("a document of another project") {
    FakeServer stranger;
    joining.world.server.before =
        [&, document = protocol::encode(stranger.project())](
            const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
      if (!request.url.ends_with("/v1/project")) return std::nullopt;
      io::HttpReply reply;
      reply.status = 200;
      reply.body = document;
      return reply;
    };
  }
  SECTION("somebody who speaks another protocol") {
    joining.world.server.before = [](const io::HttpRequest&) -> std::optional<Result<io::HttpReply>> {
      io::HttpReply reply;
      reply.status = 200;
      reply.body = "<html>";
      return reply;
    };
  }
  const auto joined = joining.join();
  REQUIRE_FALSE(joined.ok());
  CHECK(joined.error().kind == ErrorKind::untrusted);
  CHECK(joining.pinned.digest().empty());
  CHECK(joining.world.server.enrolments.empty());
}

TEST_CASE("A host that goes from its relay to the server, or back, enrols there under its key") {
  JoiningRelay joining;
  REQUIRE(joining.join().ok());
  auto elsewhere = joining.world.server.join_code();
  elsewhere.host = "127.0.0.2";           // as long, as the test's server tells paths by it
  REQUIRE(joining.join(elsewhere).ok());  // the same relay has moved
  CHECK(joining.world.server.enrolments.size() == 1);
  joining.world.server.relay.reset();
  const auto direct = joining.join();
  REQUIRE(direct.ok());
  REQUIRE(joining.world.server.enrolments.size() == 2);
  const auto& proof = joining.world.server.enrolments[1].proof;
  REQUIRE(proof);
  const auto enrolment = protocol::decode<protocol::Enrolment>(proof->payload).value();
  CHECK_FALSE(enrolment.relay);
  CHECK(enrolment.nonce == "nonce 2");
  CHECK(joining.world.server.enrolments[1].host_key == joining.world.server.enrolments[0].host_key);
  CHECK_FALSE(state::load_identity(joining.world.files, joining.state)->relay);
  joining.appear();
  REQUIRE(joining.join(elsewhere).ok());
  CHECK(joining.world.server.enrolments.size() == 3);
  CHECK(state::relay_of(*state::load_identity(joining.world.files, joining.state)) == HostId{90});
}

}  // namespace
}  // namespace gleaner::engine::testing

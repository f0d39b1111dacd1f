#include "client/join/join.h"

#include <sys/stat.h>

#include <algorithm>

#include "tests/catch.h"
#include "tests/unit/engine/world.h"

namespace gleaner::engine::testing {
namespace {

struct Joining {
  World world;
  FakeServerClient http{world.server};
  state::ProjectDirectory state{world.project};
  Result<state::Identity> join(const protocol::JoinCode& code) {
    return joining::join(http, world.files, world.machine, state, code, {}, world.clock.now());
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
  const auto requests = joining.world.server.requests.size();
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  CHECK(joining.world.server.requests.size() == requests);  // nothing to ask
  const auto loaded = state::load_identity(joining.world.files, joining.state);
  REQUIRE(loaded.ok());
  CHECK(loaded->host.token == "token");
  CHECK(loaded->name == "test-host");
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
    "its key") {
  Joining joining;
  std::vector<Bytes> keys;
  bool lose = true;
  joining.world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (!request.url.ends_with("/v1/enrol")) return std::nullopt;
    keys.push_back(request.body);
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
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  CHECK(keys.at(2) == keys.at(1));  // whether it may return is the server's to say
  CHECK_FALSE(state::load_identity(joining.world.files, joining.state)->revoked);
}

TEST_CASE("A copied disk becomes a new host, also if the first try fails") {
  Joining joining;
  REQUIRE(joining.join(joining.world.server.join_code()).ok());
  std::filesystem::create_directories(joining.world.project / "units/5");
  const auto confirm = [&] {
    return joining::confirm_machine(joining.http, joining.world.files, joining.world.machine, joining.state,
                                    {}, joining.world.clock.now());
  };
  const auto before = joining.world.server.requests.size();
  REQUIRE(confirm().ok());
  CHECK(joining.world.server.requests.size() == before);
  joining.world.machine.machine_id = "two";
  bool down = true;
  joining.world.server.before = [&](const io::HttpRequest&) -> std::optional<Result<io::HttpReply>> {
    if (down) return Error{ErrorKind::unavailable, "down"};
    return std::nullopt;
  };
  CHECK_FALSE(confirm().ok());
  CHECK_FALSE(std::filesystem::exists(joining.world.project / "units/5"));
  down = false;
  joining.world.server.host = HostId{8};
  const auto fresh = confirm();
  REQUIRE(fresh.ok());
  CHECK(fresh->host.host == HostId{8});
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

}  // namespace
}  // namespace gleaner::engine::testing

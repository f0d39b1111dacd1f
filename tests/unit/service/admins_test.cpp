// Admin tokens: who they stand for and for how long, that the last owner stays, and that nothing is
// half-done.
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;
using protocol::Role;

namespace {

Result<protocol::MadeToken> add_token(World& world, const protocol::AddToken& request) {
  return World::wait<protocol::MadeToken>(
      [&](auto done) { world.service().admins().add(request, std::move(done)); });
}

Result<protocol::TokenInfo> withdraw_token(World& world, const std::string& name) {
  return World::wait<protocol::TokenInfo>(
      [&](auto done) { world.service().admins().withdraw(name, {}, std::move(done)); });
}

std::string token_refusal(World& world, const std::string& token) {
  const auto admin = world.service().admins().authenticate(token);
  REQUIRE(!admin.ok());
  CHECK(admin.error().kind == ErrorKind::unauthorized);
  return admin.error().message;
}

// The line that `init` wrote.
std::string file_token(World& world) {
  std::string text = must(io::real_files().read(world.project().admin_token(), 1000));
  text.pop_back();
  return text;
}

}  // namespace

TEST_CASE("a token is its role until it ends, also after a restart") {
  World world;
  const auto viewer = must(add_token(world, {"ann", Role::view, 3600}));
  const auto owner = must(add_token(world, {"bob", Role::own, 0}));
  for (int i = 0; i < 2; ++i) {
    CHECK(must(world.service().admins().authenticate(viewer.token)).role == Role::view);
    CHECK(must(world.service().admins().authenticate(owner.token)).name == "bob");
    CHECK(must(world.service().admins().authenticate(file_token(world))).role == Role::own);
    world.restart();
  }
  CHECK(says(token_refusal(world, ""), "missing or wrong"));
  CHECK(says(token_refusal(world, "ann"), "missing or wrong"));
  world.clock().advance(std::chrono::seconds{3600});
  CHECK(says(token_refusal(world, viewer.token), "ann expired on"));
  must(withdraw_token(world, "bob"));
  for (int i = 0; i < 2; ++i) {
    CHECK(says(token_refusal(world, owner.token), "bob was withdrawn"));
    world.restart();
  }
  // Who did what stays known: a name is not given again.
  CHECK(add_token(world, {"bob", Role::view, 0}).error().kind == ErrorKind::conflict);
  for (const char* name : {"", ".", "..", "a/b", "a b"})
    CHECK(add_token(world, {name, Role::view, 0}).error().kind == ErrorKind::invalid);
}

TEST_CASE("the last owner without an end stays; a new token in the file counts at the next start") {
  World world;
  const std::string first = file_token(world);
  CHECK(withdraw_token(world, "project").error().kind == ErrorKind::conflict);
  must(add_token(world, {"brief", Role::own, 3600}));
  must(add_token(world, {"helper", Role::operate, 0}));
  CHECK(withdraw_token(world, "project").error().kind == ErrorKind::conflict);
  must(add_token(world, {"bob", Role::own, 0}));
  must(withdraw_token(world, "project"));
  CHECK(withdraw_token(world, "bob").error().kind == ErrorKind::conflict);
  must(withdraw_token(world, "project"));  // again is no mistake
  world.restart();
  CHECK(says(token_refusal(world, first), "project was withdrawn"));
  const std::string second(43, 's');
  must(io::real_files().write(world.project().admin_token(), second + "\n", io::Mode::secret));
  world.restart();
  CHECK(must(world.service().admins().authenticate(second)).role == Role::own);
  CHECK(says(token_refusal(world, first), "missing or wrong"));
  CHECK(withdraw_token(world, "none").error().kind == ErrorKind::not_found);
}

TEST_CASE("making and withdrawing tokens: whatever call of the store fails, it is done or not") {
  World world;
  std::string token;
  with_each_failure(world, [&](World& w) -> Status {
    const auto made = add_token(w, {"ann", Role::operate, 0});
    if (!made.ok()) return made.error();
    token = made->token;
    return {};
  });
  with_each_failure(world, [&](World& w) -> Status {
    CHECK(w.service().admins().authenticate(token).ok());
    return status_of(withdraw_token(w, "ann"));
  });
  CHECK(!world.service().admins().authenticate(token).ok());
  // Of the tokens nothing is kept that would let anybody in.
  const std::string memory = world.memory();
  CHECK(memory.find(token) == std::string::npos);
}

TEST_CASE("what a token made is withdrawn with it, and with what that made, all or nothing") {
  World world;
  const auto make = [&](const std::string& maker, const protocol::AddToken& request) {
    return must(World::wait<protocol::MadeToken>([&](auto done) {
      world.service().admins().add(
          request, Done<protocol::MadeToken>(std::move(done)).by({maker, "owner", "token add", ""}));
    }));
  };
  make("project", {"boss", Role::own, 0});
  make("boss", {"ann", Role::operate, 0});
  const std::string bob = make("ann", {"bob", Role::view, 0}).token;
  make("project", {"eve", Role::own, 3600});
  CHECK(make("eve", {"heir", Role::own, 0}).info.expires_at == world.clock().now() + std::chrono::hours{1});
  must(World::wait<protocol::MadeCode>([&](auto done) {
    world.service().codes().add(
        {"lab"}, Done<protocol::MadeCode>(std::move(done)).by({"ann", "operator", "code add", ""}));
  }));
  const auto states = [&](World& w) {
    std::string all;
    for (const auto& token : must(World::wait<std::vector<protocol::TokenInfo>>(
             [&](auto done) { w.service().admins().list(std::move(done)); })))
      if (token.state == "valid") all += token.name + " ";
    const auto lab = must(World::wait<protocol::CodeInfo>(
        [&](auto done) { w.service().codes().show("lab", std::move(done)); }));
    return all + lab.made_by + "'s code " + lab.state;
  };
  CHECK(states(world) == "ann bob boss eve heir project ann's code valid");
  with_each_failure(world, [&](World& w) -> Status {
    CHECK(w.service().admins().authenticate(bob).ok());
    return status_of(World::wait<protocol::TokenInfo>(
        [&](auto done) { w.service().admins().withdraw("boss", {true}, std::move(done)); }));
  });
  for (int i = 0; i < 2; ++i) {
    CHECK(states(world) == "eve heir project ann's code withdrawn");
    world.restart();
  }
  CHECK(World::wait<protocol::TokenInfo>(
            [&](auto done) { world.service().admins().withdraw("project", {true}, std::move(done)); })
            .error()
            .kind == ErrorKind::conflict);
}

TEST_CASE("wrong tokens of a network are limited, and fill up again") {
  World world;
  const auto wrong = [&](const std::string& network) {
    return world.service().admins().note_wrong_token(network);
  };
  for (int i = 0; i < 30; ++i) CHECK(wrong("192.0.2.1").ok());
  CHECK(wrong("192.0.2.1").error().kind == ErrorKind::unavailable);
  CHECK(wrong("192.0.2.2").ok());
  CHECK(world.service().admins().authenticate(file_token(world)).ok());
  world.clock().advance(std::chrono::seconds{31});
  CHECK(wrong("192.0.2.1").ok());
  CHECK(!wrong("192.0.2.1").ok());
}

TEST_CASE("a viewer is not told the join code") {
  World world;
  world.service().overview().set_listening_port(8443);
  const auto told = [&](Role role) {
    return must(World::wait<protocol::ServerStatus>(
                    [&](auto done) { world.service().overview().status(std::move(done), role); }))
        .join_code;
  };
  CHECK(told(Role::view).empty());
  CHECK(!told(Role::operate).empty());
}

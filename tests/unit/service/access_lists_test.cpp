// Lists and bounds of what admits hosts and administrators.
#include "server/service/access/admins.h"
#include "server/service/access/codes.h"
#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service;
using namespace gleaner::service::testing;

namespace {

std::vector<protocol::CodeInfo> listed_codes(World& world) {
  return must(World::wait<std::vector<protocol::CodeInfo>>(
      [&](auto done) { world.service().codes().list(std::move(done)); }));
}

std::vector<protocol::TokenInfo> listed_tokens(World& world) {
  return must(World::wait<std::vector<protocol::TokenInfo>>(
      [&](auto done) { world.service().admins().list(std::move(done)); }));
}

Result<protocol::MadeCode> try_add_code(World& world, const protocol::AddCode& request) {
  return World::wait<protocol::MadeCode>(
      [&](auto done) { world.service().codes().add(request, std::move(done)); });
}

Result<protocol::MadeToken> try_add_token(World& world, const protocol::AddToken& request) {
  return World::wait<protocol::MadeToken>(
      [&](auto done) { world.service().admins().add(request, std::move(done)); });
}

}  // namespace

TEST_CASE("codes are listed by name with what they are and how many joined") {
  World world(Hosts::strangers);
  protocol::AddCode request;
  request.name = "classroom";
  request.hosts_max = 1;
  request.tags = {"school"};
  request.own = false;
  request.lifetime_seconds = 3600;
  const auto made = must(try_add_code(world, request));
  CHECK(made.code.name == "classroom");
  CHECK(made.code.state == "valid");
  auto listed = listed_codes(world);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].name == "classroom");
  CHECK(listed[0].hosts_max == 1);
  CHECK(listed[0].tags == std::vector<std::string>{"school"});
  CHECK(listed[0].own == false);
  CHECK(listed[0].expires_at == world.clock().now() + std::chrono::hours{1});
  CHECK(listed[1].name == "default");
  CHECK(listed[1].expires_at == Timestamp{});
  CHECK(listed[1].own == false);
  (void)world.add_host("one");
  CHECK(listed_codes(world)[1].hosts == 1);
  CHECK(listed_codes(world)[0].hosts == 0);
  world.clock().advance(std::chrono::hours{2});
  CHECK(listed_codes(world)[0].state == "expired");
  world.restart();
  listed = listed_codes(world);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].hosts_max == 1);
  CHECK(listed[1].hosts == 1);
}

TEST_CASE("a code that is not here is not shown, rotated or withdrawn") {
  World world;
  auto& service = world.service().codes();
  const auto not_here = [](const auto& answer) {
    REQUIRE(!answer.ok());
    CHECK(answer.error().kind == ErrorKind::not_found);
    CHECK(says(answer.error().message, "no code nowhere here"));
  };
  not_here(World::wait<protocol::CodeInfo>([&](auto done) { service.show("nowhere", std::move(done)); }));
  not_here(World::wait<protocol::MadeCode>([&](auto done) { service.rotate("nowhere", std::move(done)); }));
  not_here(
      World::wait<protocol::CodeInfo>([&](auto done) { service.withdraw("nowhere", {}, std::move(done)); }));
  CHECK(must(World::wait<protocol::CodeInfo>([&](auto done) {
          service.show("default", std::move(done));
        })).state == "valid");
}

TEST_CASE("there are so many codes and no more") {
  World world;
  (void)world.look<bool>([](Transaction& tx) {
    while (tx.model.codes.size() < limits::codes_max)
      tx.model.codes["code " + std::to_string(tx.model.codes.size())].name = "filler";
    return true;
  });
  protocol::AddCode request;
  request.name = "one-too-many";
  const auto refused = try_add_code(world, request);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::conflict);
  CHECK(says(refused.error().message, "10000 codes already"));
}

TEST_CASE("tokens are listed by name with their roles and ends, never with their secrets") {
  World world;
  protocol::AddToken request;
  request.name = "clerk";
  request.role = protocol::Role::view;
  request.lifetime_seconds = 3600;
  const auto made = must(try_add_token(world, request));
  CHECK(!made.token.empty());
  auto listed = listed_tokens(world);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].name == "clerk");
  CHECK(listed[0].role == protocol::Role::view);
  CHECK(listed[0].state == "valid");
  CHECK(listed[0].made_at == world.clock().now());
  CHECK(listed[1].role == protocol::Role::own);
  world.clock().advance(std::chrono::hours{2});
  CHECK(listed_tokens(world)[0].state == "expired");
  CHECK(!world.service().admins().authenticate(made.token).ok());
  CHECK(try_add_token(world, request).error().kind == ErrorKind::conflict);  // it is known who did what
}

TEST_CASE("there are so many tokens and no more") {
  World world;
  (void)world.look<bool>([](Transaction& tx) {
    while (tx.model.admin_tokens.size() < 1000)
      tx.model.admin_tokens["token " + std::to_string(tx.model.admin_tokens.size())].name = "filler";
    return true;
  });
  protocol::AddToken request;
  request.name = "one-too-many";
  const auto refused = try_add_token(world, request);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::conflict);
  CHECK(says(refused.error().message, "1000 admin tokens already"));
}

TEST_CASE("names of codes and tokens are pieces of a path") {
  for (const std::string& good : {std::string("a"), std::string("Room-3.b_2"), std::string("..."),
                                  std::string(limits::name_length_max, 'x')})
    CHECK(check_name(good).ok());
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("a b"),
        std::string("\xc3\xbc"), std::string(limits::name_length_max + 1, 'x')}) {
    INFO(bad);
    REQUIRE(!check_name(bad).ok());
    CHECK(check_name(bad).error().kind == ErrorKind::invalid);
  }
}

TEST_CASE("whoever only looks is told when the store fails, whatever is looked at") {
  World world;
  world.add_application();
  const TestHost host = world.add_host();
  const ProblemId problem = world.add_problem(30);
  (void)world.grants(host.id);
  auto& service = world.service();
  const auto each = [&](const auto& look) {
    with_each_failure(world, [&](World&) { return status_of(look()); });
  };
  each([&] {
    return World::wait<std::vector<protocol::CodeInfo>>(
        [&](auto done) { service.codes().list(std::move(done)); });
  });
  each([&] {
    return World::wait<protocol::CodeInfo>(
        [&](auto done) { service.codes().show("default", std::move(done)); });
  });
  each([&] {
    return World::wait<std::vector<protocol::TokenInfo>>(
        [&](auto done) { service.admins().list(std::move(done)); });
  });
  each([&] {
    return World::wait<std::vector<protocol::ApplicationInfo>>(
        [&](auto done) { service.applications().list(std::move(done)); });
  });
  each([&] {
    return World::wait<protocol::HostInfo>(
        [&](auto done) { service.hosts().show(host.id, std::move(done)); });
  });
  each([&] {
    return World::wait<std::vector<protocol::DecisionInfo>>(
        [&](auto done) { service.problems().decisions(problem, 10, std::move(done)); });
  });
  each([&] {
    return World::wait<protocol::ServerStatus>(
        [&](auto done) { service.overview().status(std::move(done), protocol::Role::own); });
  });
}

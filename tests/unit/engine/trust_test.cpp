#include <algorithm>

#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/engine/world.h"
#include "tests/unit/says.h"

namespace gleaner::engine::testing {
namespace {
using namespace std::chrono_literals;
using protocol::FailureKind;

// Runs the grant and expects a refusal: a report `untrusted`, and no kernel.
void expect_refusal(World& world, const protocol::SignedStatement& statement) {
  world.server.queue_statement(statement);
  world.start();
  REQUIRE(
      world.run_until([&] { return world.server.failures.size() == 1 && world.nothing_in_hand(); }, 100ms));
  CHECK(world.server.failures[0].kind == FailureKind::untrusted);
  CHECK_FALSE(world.server.failures[0].message.empty());
  CHECK(world.launcher.started == 0);
}

TEST_CASE("Grants that the project did not sign for this host are refused") {
  World world;
  protocol::Grant grant = world.server.make_grant({0, 10});
  SECTION("changed after signing") {
    auto statement = world.server.sign_grant(grant);
    grant.range.end = 11;
    statement.payload = protocol::encode(grant);
    expect_refusal(world, statement);
  }
  SECTION("signature damaged") {
    auto statement = world.server.sign_grant(grant);
    statement.signature[10] ^= 4;
    expect_refusal(world, statement);
  }
  SECTION("by another project") {
    FakeServer stranger;
    stranger.set_application(script_kernel());
    expect_refusal(world, stranger.sign_grant(grant));
  }
  SECTION("for another host") {
    grant.host = HostId{8};
    expect_refusal(world, world.server.sign_grant(grant));
  }
  SECTION("parameters that do not have their digest") {
    grant.parameters = R"({"length":6})";
    expect_refusal(world, world.server.sign_grant(grant));
  }
  SECTION("an application that another project's signer signed") {
    FakeServer stranger;
    stranger.set_application(script_kernel());
    const auto foreign = stranger.make_grant({0, 10});
    grant.application = foreign.application;
    grant.signer = foreign.signer;
    expect_refusal(world, world.server.sign_grant(grant));
  }
  SECTION("with a context that was changed on its way") {
    auto statement = world.server.sign_short_grant(grant);
    statement.context->replace(statement.context->find("length"), 6, "breadth");
    expect_refusal(world, statement);
  }
  SECTION("with a context that was never told") {
    auto statement = world.server.sign_short_grant(grant);
    statement.context.reset();
    expect_refusal(world, statement);
  }
  SECTION("with the context of another problem") {
    auto other = grant;
    other.problem = ProblemId{4};
    grant.context = crypto::sha256_hex(*world.server.sign_short_grant(other).context);
    auto statement = world.server.sign_grant(grant);
    statement.context = world.server.sign_short_grant(other).context;
    expect_refusal(world, statement);
  }
  SECTION("an input that escapes its directory") {
    grant.inputs = {{"../../evil", std::string(64, 'a'), 3, std::nullopt}};
    expect_refusal(world, world.server.sign_grant(grant));
  }
  SECTION("an empty range") {
    grant.range = {5, 5};
    expect_refusal(world, world.server.sign_grant(grant));
  }
}

TEST_CASE("A bundle or input with other bytes than were signed is never used, whichever byte it is") {
  World world;
  const bool input = GENERATE(false, true);
  const double where = GENERATE(0.0, 0.3, 0.6, 0.999);
  INFO((input ? "input" : "bundle") << " at " << where);
  std::string digest = world.server.archive_digest;
  if (input) {
    const Bytes text = "the bytes of an input that is long enough to be damaged anywhere";
    digest = crypto::sha256_hex(text);
    world.server.blobs[digest] = text;
    world.server.inputs = {{"text", digest, static_cast<std::int64_t>(text.size()), std::nullopt}};
  }
  Bytes& blob = world.server.blobs[digest];
  blob[static_cast<std::size_t>(where * static_cast<double>(blob.size()))] ^= 1;
  expect_refusal(world, world.server.sign_grant(world.server.make_grant({0, 10})));
  CHECK_FALSE(std::filesystem::exists(world.project / "blobs" / digest));
}

TEST_CASE("A kernel changed on disk after it was unpacked is not started") {
  World world;
  world.server.queue_unit({0, 5});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 5}) && world.nothing_in_hand(); }));
  world.run_for(70s, 500ms);  // the idle kernel is let go
  CHECK(world.gate.groups.empty());
  const io::Path kernel = world.project / "bundles" / world.server.archive_digest / "bin/kernel";
  REQUIRE(io::real_files().write(kernel, script_kernel("echo evil"), io::Mode::executable).ok());
  world.server.queue_unit({5, 10});
  REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 200ms));
  CHECK(world.server.failures[0].kind == FailureKind::untrusted);
  CHECK(world.launcher.started == 1);
}

TEST_CASE("A project document of another root key is not believed, and nothing is computed") {
  World world;
  FakeServer stranger;
  world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (!request.url.ends_with("/v1/project")) return std::nullopt;
    io::HttpReply reply;
    reply.status = 200;
    reply.body = protocol::encode(stranger.project());
    return reply;
  };
  world.server.queue_unit({0, 5});
  world.start();
  world.run_for(30s, 200ms);
  CHECK(world.server.work.empty());
  CHECK(world.launcher.started == 0);
}

TEST_CASE("An expired work certificate stops the client at the next unit") {
  World world;
  world.server.queue_unit({0, 5});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 5}); }));
  world.clock.jump_calendar(std::chrono::hours{24 * 800});
  auto grant = world.server.make_grant({5, 10});
  grant.deadline = world.clock.now() + std::chrono::hours{1};  // it is not the grant that is over
  world.server.queue_statement(world.server.sign_grant(grant));
  REQUIRE(world.run_until([&] { return world.server.failures.size() == 1; }, 200ms));
  CHECK(world.server.failures[0].kind == FailureKind::untrusted);
  CHECK(world.server.items.size() == 5);
}

TEST_CASE("With a clock before the work key's beginning units wait, and are nobody's failure") {
  World world;
  world.server.set_application(script_kernel(at_a_pace));
  world.server.queue_unit({0, 200});
  world.start();
  REQUIRE(world.run_until([&] { return world.engine->status().slots[0].finished > 3; }));
  world.kill();
  world.clock.jump_calendar(-std::chrono::hours{48});
  world.server.queue_unit({200, 205});
  world.start();
  world.run_for(30s, 200ms);
  CHECK(world.server.failures.empty());
  CHECK(world.gate.groups.empty());
  CHECK(says(world.engine->status().reason, "check this computer's date and time"));
  world.clock.jump_calendar(std::chrono::hours{48});
  REQUIRE(world.run_until([&] { return world.has_all({0, 200}); }, 200ms));
  CHECK(world.server.failures.empty());
}

TEST_CASE("Inputs are fetched once, laid out, and a download that was cut off is resumed") {
  World world;
  const Bytes text(10'000, 'x');
  const std::string digest = crypto::sha256_hex(text);
  world.server.blobs[digest] = text;
  world.server.inputs = {{"words.txt", digest, 10'000, std::nullopt}};
  std::filesystem::create_directories(world.project / "blobs");
  REQUIRE(io::real_files()
              .write(world.project / "blobs" / (digest + ".partial"), text.substr(0, 4000), io::Mode::normal)
              .ok());
  std::string range;
  world.server.before = [&](const io::HttpRequest& request) -> std::optional<Result<io::HttpReply>> {
    if (request.url.ends_with(digest))
      for (const auto& [name, value] : request.headers)
        if (name == "Range") range = value;
    return std::nullopt;
  };
  world.server.queue_unit({0, 5});
  world.server.queue_unit({5, 10});
  world.start();
  REQUIRE(world.run_until([&] { return world.has_all({0, 10}); }));
  CHECK(range == "bytes=4000-9999");
  CHECK(std::count(world.server.requests.begin(), world.server.requests.end(), "GET /v1/blobs/" + digest) ==
        1);
  bool found = false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(world.project / "problems"))
    found = found || (entry.path().filename() == "words.txt" && entry.file_size() == 10'000);
  CHECK(found);
}

}  // namespace
}  // namespace gleaner::engine::testing

// Applications are added whole or not at all, and never change.
#include <filesystem>

#include "shared/protocol/codec.h"
#include "tests/unit/service/world.h"

using namespace gleaner;
using namespace gleaner::service::testing;

namespace {

Result<protocol::ApplicationInfo> install(World& world, const protocol::AddApplication& request) {
  return World::wait<protocol::ApplicationInfo>(
      [&](auto done) { world.service().applications().add(request, std::move(done)); });
}

std::vector<protocol::ApplicationInfo> applications_of(World& world) {
  return must(World::wait<std::vector<protocol::ApplicationInfo>>(
      [&](auto done) { world.service().applications().list(std::move(done)); }));
}

}  // namespace

TEST_CASE("an application is added: whatever call of the store fails, it is there whole or not at all") {
  World world;
  const auto request = world.application();
  with_each_failure(world, [&](World& w) -> Status {
    const auto info = install(w, request);
    return info.ok() ? Status{} : Status{info.error()};
  });
  REQUIRE(applications_of(world).size() == 1);
  CHECK(applications_of(world)[0].name == "numbers");
  CHECK(applications_of(world)[0].title == "Numbers");
  CHECK(applications_of(world)[0].signer == "signer");
  world.restart();
  CHECK(applications_of(world).size() == 1);
}

TEST_CASE("the same version again is the same; with other contents it is refused") {
  World world;
  const auto request = world.application();
  const auto first = must(install(world, request));
  CHECK(must(install(world, request)).archive == first.archive);
  CHECK(applications_of(world).size() == 1);
  const auto other = world.application({"1.0.0", "manager", false});
  const auto refused = install(world, other);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::conflict);
  CHECK(says(refused.error().message, "versions never change"));
  CHECK(must(install(world, world.application({"1.0.1", "manager", false}))).version == "1.0.1");
  CHECK(applications_of(world).size() == 2);
}

TEST_CASE("what nobody signed, or what is not uploaded, is not kept") {
  World world;
  auto request = world.application();
  request.application.payload[10] = static_cast<char>(request.application.payload[10] ^ 1);
  CHECK(install(world, request).error().kind == ErrorKind::untrusted);
  World another;
  const auto foreign = install(another, world.application());
  REQUIRE(!foreign.ok());
  CHECK(foreign.error().kind == ErrorKind::untrusted);
  CHECK(applications_of(world).empty());
}

TEST_CASE("an application whose archive is not here is to be uploaded first") {
  World world;
  const auto request = world.application();
  auto& blobs = world.service().kernel().blobs();
  const auto statement = must(protocol::decode<protocol::ApplicationStatement>(request.application.payload));
  std::filesystem::remove(blobs.path(statement.archive));
  const auto refused = install(world, request);
  REQUIRE(!refused.ok());
  CHECK(refused.error().kind == ErrorKind::conflict);
  CHECK(says(refused.error().message, "upload the archive " + statement.archive + " first"));
  CHECK(applications_of(world).empty());
  (void)world.application();  // packs and puts it again
  CHECK(install(world, request).ok());
}

TEST_CASE("a name stands for its newest version, and a version for itself") {
  World world;
  world.add_application();
  world.add_application({"1.1.0"});
  const auto found = [&](const std::string& text) {
    return world.look<std::string>([&](service::Transaction& tx) {
      const auto* application = service::find_application(tx.model, text);
      return application == nullptr ? std::string("none") : application->row.version;
    });
  };
  CHECK(found("numbers") == "1.1.0");
  CHECK(found("numbers@1.0.0") == "1.0.0");
  CHECK(found("numbers@1.1.0") == "1.1.0");
  CHECK(found("numbers@1.2.0") == "none");
  CHECK(found("number") == "none");
  CHECK(found("") == "none");
}

#include "tools/admin/profile.h"

#include <filesystem>

#include "shared/protocol/join_code.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"

namespace gleaner::admin {

TEST_CASE("a profile is found by option, variable or place", "[profile]") {
  TestWorld world;
  world.add_profile();
  const Outside outside = world.outside();
  const auto by_variable = find_connection({}, outside);
  REQUIRE(by_variable.ok());
  CHECK(by_variable->url == test_url);
  CHECK(by_variable->token == test_token);
  CHECK(by_variable->vouchers.root_fingerprint == Bytes(32, '\xaa'));
  CHECK_FALSE(by_variable->vouchers.authorities);
  world.variables.clear();
  for (const std::string& where : {world.directory.string(), (world.directory / "admin").string(),
                                   (world.directory / "admin/admin.json").string()}) {
    ConnectionOptions options;
    options.project = where;
    CHECK(find_connection(options, outside).ok());
  }
}

TEST_CASE("a missing profile says where it was looked for", "[profile]") {
  TestWorld world;
  ConnectionOptions options;
  options.project = world.directory.string();
  const auto missing = find_connection(options, world.outside());
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().kind == ErrorKind::not_found);
  CHECK(missing.error().message.find(world.directory.string()) != std::string::npos);
  CHECK(missing.error().message.find("--project") != std::string::npos);
}

TEST_CASE("a token that others may read is refused", "[profile]") {
  TestWorld world;
  world.add_profile();
  using std::filesystem::perms;
  for (const perms mode : {perms::group_read, perms::others_read, perms::group_write, perms::others_write}) {
    std::filesystem::permissions(world.directory / "admin/token", perms::owner_read | mode);
    const auto refused = find_connection({}, world.outside());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == ErrorKind::untrusted);
    CHECK(refused.error().message.find("chmod 600") != std::string::npos);
  }
  std::filesystem::permissions(world.directory / "admin/token", perms::owner_read);
  CHECK(find_connection({}, world.outside()).ok());
}

TEST_CASE("what is no token is refused before it is sent", "[profile]") {
  TestWorld world;
  world.add_profile();
  for (const std::string& text :
       {std::string(), std::string("two words\n"), std::string("a\nb\n"), std::string("\x01")}) {
    world.write("admin/token", text);
    const auto refused = find_connection({}, world.outside());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == ErrorKind::invalid);
  }
}

TEST_CASE("address, fingerprint and token can be given without a profile", "[profile]") {
  TestWorld world;
  const io::Path token = world.write("token", test_token);
  std::filesystem::permissions(token, std::filesystem::perms::owner_read);
  world.variables["GLEANER_PROJECT"] = (world.directory / "nowhere").string();
  ConnectionOptions options;
  options.token_file = token.string();
  CHECK(find_connection(options, world.outside()).error().kind == ErrorKind::not_found);
  options.server = "https://other:1/";
  const auto by_address = find_connection(options, world.outside());
  REQUIRE(by_address.ok());
  CHECK(by_address->url == "https://other:1");
  CHECK(by_address->vouchers.root_fingerprint.empty());
  CHECK(by_address->vouchers.authorities);
  options.server = "http://other:1";
  CHECK(find_connection(options, world.outside()).error().kind == ErrorKind::invalid);
  options.server.clear();
  options.join_code = protocol::to_text({"grid.test", 8443, Bytes(32, 'f'), Bytes(16, 's')});
  const auto by_code = find_connection(options, world.outside());
  REQUIRE(by_code.ok());
  CHECK(by_code->url == test_url);
  CHECK(by_code->vouchers.root_fingerprint == Bytes(32, 'f'));
  CHECK_FALSE(by_code->vouchers.authorities);
  options.join_code = protocol::to_text(
      {"grid.test", 8443, Bytes(32, 'f'), Bytes(16, 's'), std::nullopt, protocol::Certificate::either});
  CHECK(find_connection(options, world.outside())->vouchers.authorities);
}

}  // namespace gleaner::admin

// A relay's directory: keys that stay, a membership that is there whole or not at all.
#include "server/relay/directory.h"

#include "shared/crypto/statements.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

using namespace gleaner;
using namespace gleaner::relay;
using gleaner::testing::TemporaryDirectory;

namespace {

io::Files& files() {
  return io::real_files();
}

RelayKeys keys_of(const RelayDirectory& directory) {
  auto keys = load_or_make_keys(files(), directory, {"relay.example.org"}, system_clock().now());
  REQUIRE(keys.ok());
  return std::move(keys).value();
}

Membership some_membership(const RelayKeys& keys) {
  Membership membership;
  membership.code = {"grid.example.org", 8443, Bytes(32, 'f'), Bytes(16, 's')};
  membership.host = HostId{7};
  membership.token = "token";
  membership.machine = std::string(64, 'a');
  membership.project = crypto::sign_statement(protocol::StatementType::project, "{}", keys.host);
  membership.certificate =
      crypto::sign_statement(protocol::StatementType::relay_certificate, "{}", keys.host);
  return membership;
}

}  // namespace

TEST_CASE("keys are made once, and are nobody else's to read") {
  const TemporaryDirectory place;
  const RelayDirectory directory(place.path() / "relay");
  const RelayKeys made = keys_of(directory), again = keys_of(directory);
  CHECK(made.host.public_key() == again.host.public_key());
  CHECK(made.tls_digest == again.tls_digest);
  CHECK(made.enrolment_secret == again.enrolment_secret);
  CHECK(made.admin_token_digest == again.admin_token_digest);
  for (const io::Path& path : {directory.host_key(), directory.project().tls_key(),
                               directory.project().enrolment_secret(), directory.project().admin_token()}) {
    INFO(path.string());
    CHECK(std::filesystem::status(path).permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  }
  // A stop between key and certificate: nobody was told of that key.
  std::filesystem::remove(directory.project().tls_chain());
  CHECK(keys_of(directory).tls_digest != made.tls_digest);
}

TEST_CASE("a membership is stored, renewed and forgotten; keys and settings stay") {
  const TemporaryDirectory place;
  const RelayDirectory directory(place.path() / "relay");
  const RelayKeys keys = keys_of(directory);
  CHECK(load_membership(files(), directory).error().kind == ErrorKind::not_found);
  Membership membership = some_membership(keys);
  REQUIRE(save_membership(files(), directory, membership).ok());
  const auto stored = load_membership(files(), directory);
  REQUIRE(stored.ok());
  CHECK(stored->host == membership.host);
  CHECK(stored->token == membership.token);
  CHECK(protocol::to_text(stored->code) == protocol::to_text(membership.code));
  CHECK_FALSE(stored->above);

  membership.above = membership.certificate;
  REQUIRE(save_statements(files(), directory, membership).ok());
  CHECK(load_membership(files(), directory)->above);
  membership.above.reset();
  REQUIRE(save_statements(files(), directory, membership).ok());
  CHECK_FALSE(load_membership(files(), directory)->above);

  std::filesystem::permissions(directory.parent() / "host.json", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  CHECK(load_membership(files(), directory).error().kind == ErrorKind::untrusted);

  service::Configuration configuration;
  configuration.port = 9000;
  REQUIRE(write_settings(files(), directory, configuration).ok());
  REQUIRE(files().write(directory.root() / "store.sqlite", "rows", io::Mode::normal).ok());
  REQUIRE(forget_membership(files(), directory).ok());
  CHECK(load_membership(files(), directory).error().kind == ErrorKind::not_found);
  CHECK_FALSE(files().exists(directory.root() / "store.sqlite"));
  CHECK(keys_of(directory).tls_digest == keys.tls_digest);
  CHECK(read_settings(files(), directory)->port == 9000);
}

TEST_CASE("a membership that is replaced is stored at any moment, as the former or as the new one") {
  for (int writes = 0;; ++writes) {
    INFO("stopped after " << writes << " changes");
    const TemporaryDirectory place;
    const RelayDirectory directory(place.path() / "relay");
    Membership membership = some_membership(keys_of(directory));
    REQUIRE(save_membership(files(), directory, membership).ok());
    REQUIRE(files().write(directory.root() / "store.sqlite", "rows", io::Mode::normal).ok());
    membership.host = HostId{8};
    membership.token = "another";
    io::FaultyFiles stopping(files());
    int left = writes;
    stopping.before_change = [&left](std::string_view, const io::Path&) {
      return left-- > 0 ? Status{} : Error{ErrorKind::io, "stopped"};
    };
    const bool replaced = replace_membership(stopping, directory, membership).ok();
    const auto stored = load_membership(files(), directory);
    REQUIRE(stored.ok());
    CHECK(stored->host == (replaced ? HostId{8} : HostId{7}));
    CHECK(stored->token == (replaced ? "another" : "token"));
    if (!replaced) continue;
    CHECK(writes > 5);
    CHECK_FALSE(files().exists(directory.root() / "store.sqlite"));
    return;
  }
}

TEST_CASE("settings of a relay are a part of the server's, and no others") {
  const auto good = service::parse_relay_configuration("[server]\nport = 9000\n", "relay.toml");
  REQUIRE(good.ok());
  CHECK(good->port == 9000);
  // A lab of two hundred that joins all at once, again and again, behind one address.
  CHECK(good->joins_per_hour >= 200 * 20);
  const RelayDirectory nothing(io::Path("/nonexistent"));
  CHECK(read_settings(files(), nothing)->joins_per_hour == good->joins_per_hour);
  const auto fewer = service::parse_relay_configuration("[hosts]\njoins_per_hour = 7\n", "relay.toml");
  CHECK(fewer->joins_per_hour == 7);
  const auto wrong = service::parse_relay_configuration("[work]\nstrategy = \"wis\"\n", "relay.toml");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("relay.toml:") != std::string::npos);
  CHECK(service::parse_relay_configuration("[work]\nservice = \"geo\"\n", "relay.toml")->service_order ==
        "geo");
  CHECK(service::parse_relay_configuration("[work]\nservice = \"round-robin\"\n", "relay.toml")
            ->service_order == "round-robin");
}

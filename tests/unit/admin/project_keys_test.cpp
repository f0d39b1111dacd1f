#include "shared/bundle/project_keys.h"

#include <filesystem>

#include "shared/bundle/bundle.h"
#include "shared/crypto/statements.h"
#include "shared/crypto/tls_identity.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"

namespace gleaner::admin {
namespace {

using std::filesystem::perms;

perms mode_of(const io::Path& path) {
  return std::filesystem::status(path).permissions() & perms::all;
}

}  // namespace

TEST_CASE("offline keys are made once, secret, and certified", "[keys]") {
  TestWorld world;
  const io::Path directory = world.directory / "keys";
  const Timestamp now = world.clock.now();
  const auto keys = bundle::create_offline_keys(io::real_files(), directory, now);
  REQUIRE(keys.ok());
  CHECK(mode_of(directory / "root.key") == (perms::owner_read | perms::owner_write));
  CHECK(mode_of(directory / "signer.key") == (perms::owner_read | perms::owner_write));
  CHECK(keys->project == to_hex(crypto::fingerprint(keys->root.public_key())));
  const auto read = bundle::read_certificate_file(io::real_files(), directory / "signer.certificate.json");
  REQUIRE(read.ok());
  const auto certificate = crypto::check_key_certificate(*read, protocol::StatementType::signer_certificate,
                                                         keys->root.public_key(), keys->project, now);
  REQUIRE(certificate.ok());
  CHECK(certificate->key == keys->signer.public_key());
  CHECK(certificate->name == "signer");
  CHECK(bundle::read_key_file(io::real_files(), directory / "root.key")->public_key() ==
        keys->root.public_key());
  // Never again over them, even where only one is left.
  std::filesystem::remove(directory / "root.key");
  const std::string signer = world.read(directory / "signer.key");
  CHECK(bundle::create_offline_keys(io::real_files(), directory, now).error().kind == ErrorKind::conflict);
  CHECK(world.read(directory / "signer.key") == signer);
  CHECK_FALSE(std::filesystem::exists(directory / "root.key"));
}

TEST_CASE("a failing disk leaves an error, not half a project", "[keys]") {
  TestWorld world;
  io::FaultyFiles files(io::real_files());
  files.before_change = [](std::string_view operation, const io::Path& path) -> Status {
    if (operation == "write" && path.filename() == "signer.key") return Error{ErrorKind::io, "no space left"};
    return {};
  };
  CHECK(bundle::create_offline_keys(files, world.directory / "keys", world.clock.now()).error().kind ==
        ErrorKind::io);
}

TEST_CASE("keys that others may read are refused", "[keys]") {
  TestWorld world;
  REQUIRE(bundle::create_offline_keys(io::real_files(), world.directory, world.clock.now()).ok());
  std::filesystem::permissions(world.directory / "root.key", perms::owner_read | perms::group_read);
  const auto refused = bundle::read_key_file(io::real_files(), world.directory / "root.key");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == ErrorKind::untrusted);
}

TEST_CASE("keys signer and keys work certify with the root key", "[keys]") {
  TestWorld world;
  const std::string directory = (world.directory / "k").string();
  const auto file = [&](const std::string& name) { return directory + "/" + name; };
  REQUIRE(world.run({"keys", "create", "--out", directory, "--name", "Physics lab"}) == 0);
  CHECK(world.out.find("root.key offline") != std::string::npos);
  const auto root = bundle::read_key_file(io::real_files(), file("root.key"));
  REQUIRE(root.ok());
  const std::string project = bundle::project_id(root->public_key());
  const auto check = [&](const std::string& name, protocol::StatementType type, Timestamp at) {
    return crypto::check_key_certificate(bundle::read_certificate_file(io::real_files(), file(name)).value(),
                                         type, root->public_key(), project, at);
  };
  using protocol::StatementType;
  CHECK(check("signer.certificate.json", StatementType::signer_certificate, world.clock.now())->name ==
        "Physics lab");

  REQUIRE(world.run({"keys", "signer", "--root", file("root.key"), "--name", "alice", "--days", "30", "--out",
                     file("alice.key")}) == 0);
  const auto alice = bundle::read_key_file(io::real_files(), file("alice.key"));
  REQUIRE(alice.ok());
  const auto day = std::chrono::hours{24};
  CHECK(
      check("alice.certificate.json", StatementType::signer_certificate, world.clock.now() + 29 * day)->key ==
      alice->public_key());
  CHECK_FALSE(
      check("alice.certificate.json", StatementType::signer_certificate, world.clock.now() + 31 * day).ok());
  CHECK(world.run({"keys", "signer", "--root", file("root.key"), "--name", "alice", "--out",
                   file("alice.key")}) == 1);

  // A work key by its digits, and from its last certificate.
  const crypto::PrivateKey work = crypto::PrivateKey::generate();
  REQUIRE(world.run({"keys", "work", "--root", file("root.key"), "--public-key", to_hex(work.public_key()),
                     "--out", file("work.json")}) == 0);
  REQUIRE(world.run({"keys", "work", "--root", file("root.key"), "--public-key", file("work.json"), "--out",
                     file("new.json")}) == 0);
  CHECK(check("new.json", StatementType::work_key_certificate, world.clock.now())->key == work.public_key());
  CHECK(check("new.json", StatementType::work_key_certificate, world.clock.now())->name == "work");
  CHECK(world.run({"keys", "work", "--root", file("root.key"), "--public-key", "abc"}) == 4);
}

TEST_CASE("keys revoke makes a list, and goes on with it") {
  TestWorld world;
  const std::string directory = (world.directory / "k").string();
  const auto file = [&](const std::string& name) { return directory + "/" + name; };
  REQUIRE(world.run({"keys", "create", "--out", directory}) == 0);
  const auto root = bundle::read_key_file(io::real_files(), file("root.key"));
  REQUIRE(root.ok());
  const auto list = [&]() -> protocol::RevocationList {
    const auto revocations = bundle::read_revocations(io::real_files(), file("revocations.json"),
                                                      crypto::fingerprint(root->public_key()));
    INFO((revocations.ok() ? "" : revocations.error().message));
    REQUIRE(revocations.ok());
    return revocations->list();
  };
  const auto revoke = [&](std::vector<std::string> what) {
    what.insert(what.begin(), {"keys", "revoke", "--root", file("root.key")});
    return world.run(what);
  };
  REQUIRE(revoke({"--signer", file("signer.certificate.json"), "--reason", "left"}) == 0);
  CHECK(world.out.find("keys/revocations.json") != std::string::npos);
  CHECK(list().keys.at(0).key == bundle::read_key_file(io::real_files(), file("signer.key"))->public_key());
  CHECK(list().keys.at(0).reason == "left");
  CHECK(list().number == to_microseconds(world.clock.now()) / 1'000'000);
  const std::int64_t first = list().number;

  // Several at once; the number grows although no second went by.
  const auto tls = crypto::make_tls_identity(*root, {"localhost"}, world.clock.now(),
                                             world.clock.now() + std::chrono::hours{24});
  world.write("tls.pem", tls.certificate_chain_pem);
  world.write("a-1.tar.gz", "archive");
  const crypto::PrivateKey work = crypto::PrivateKey::generate();
  REQUIRE(
      revoke({"--work-key", to_hex(work.public_key()), "--tls-key", (world.directory / "tls.pem").string(),
              "--archive", (world.directory / "a-1.tar.gz").string(), "--application", "raytrace", "--below",
              "1.2"}) == 0);
  CHECK(list().number == first + 1);
  CHECK(list().keys.size() == 2);
  CHECK(list().tls_keys.at(0).digest == *crypto::tls_key_digest(tls.certificate_chain_pem));
  CHECK(list().applications.at(0).archive == crypto::sha256_hex("archive"));
  CHECK(list().minimum_versions.at(0).version == "1.2");

  // Nothing is taken back, and nothing is said twice.
  CHECK(revoke({"--application", "raytrace", "--below", "1.1"}) != 0);
  CHECK(revoke({"--work-key", to_hex(work.public_key())}) != 0);
  CHECK(revoke({}) != 0);
  CHECK(revoke({"--application", "raytrace"}) != 0);
  CHECK(list().number == first + 1);
  REQUIRE(revoke({"--application", "raytrace", "--below", "1.10"}) == 0);
  CHECK(list().minimum_versions.size() == 1);
  CHECK(list().minimum_versions.at(0).version == "1.10");

  REQUIRE(world.run({"keys", "revoked", file("revocations.json")}) == 0);
  CHECK(world.out.find("raytrace below 1.10") != std::string::npos);
  REQUIRE(world.run({"--json", "keys", "revoked", file("revocations.json")}) == 0);
  CHECK(protocol::decode<protocol::RevocationList>(world.out).ok());

  // Another project's list is not gone on with.
  REQUIRE(world.run({"keys", "create", "--out", directory + "2"}) == 0);
  CHECK(world.run({"keys", "revoke", "--root", directory + "2/root.key", "--list", file("revocations.json"),
                   "--archive", crypto::sha256_hex("x")}) == 5);
}

TEST_CASE("app sign makes what a client would accept", "[keys]") {
  TestWorld world;
  const std::string keys = (world.directory / "k").string();
  REQUIRE(world.run({"keys", "create", "--out", keys}) == 0);
  world.write(
      "b/manifest.toml",
      "manifest = 1\nname = \"tiny\"\nversion = \"1.2\"\ntitle = \"Tiny\"\n[kernel]\nany = \"kernel.sh\"\n"
      "[manager]\nprogram = \"manager.sh\"\n[items]\nmeaning = \"x\"\n");
  for (const char* name : {"b/kernel.sh", "b/manager.sh"})
    std::filesystem::permissions(world.write(name, "#!/bin/sh\n"), perms::owner_all);
  const std::string out = (world.directory / "out").string();
  REQUIRE(world.run({"app", "sign", (world.directory / "b").string(), "--key", keys + "/signer.key", "-o",
                     out}) == 0);
  const auto application =
      protocol::decode<protocol::AddApplication>(world.read(out + "/tiny-1.2.tar.gz.signed"));
  REQUIRE(application.ok());
  const auto root = bundle::read_key_file(io::real_files(), keys + "/root.key");
  const auto statement =
      crypto::check_application(application->application, application->signer, root->public_key(),
                                bundle::project_id(root->public_key()), world.clock.now());
  REQUIRE(statement.ok());
  CHECK(statement->archive == crypto::sha256_hex(world.read(out + "/tiny-1.2.tar.gz")));

  // Somebody else's certificate, and one that has run out, are found out here and not by the volunteers.
  REQUIRE(world.run({"keys", "signer", "--root", keys + "/root.key", "--name", "b", "--out",
                     keys + "/b.key"}) == 0);
  CHECK(world.run({"app", "sign", (world.directory / "b").string(), "--key", keys + "/b.key", "--certificate",
                   keys + "/signer.certificate.json", "-o", out}) == 5);
  CHECK(world.error.find("another key") != std::string::npos);
  world.clock.advance(std::chrono::hours{24 * 1200});
  CHECK(world.run({"app", "sign", (world.directory / "b").string(), "--key", keys + "/signer.key", "-o",
                   out}) == 5);
}

}  // namespace gleaner::admin

#include "shared/archive/bundle_archive.h"

#include "shared/base/random.h"
#include "shared/bundle/project_keys.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace gleaner::archives;
using namespace gleaner::bundle;
using gleaner::testing::TemporaryDirectory;

namespace {

const Timestamp now = from_microseconds(1'795'212'245'000'000);

const std::string manifest_text =
    "manifest = 1\nname = \"sum\"\nversion = \"1.2\"\n[kernel]\nany = \"bin/kernel\"\n[manager]\nprogram = "
    "\"bin/manager\"\n";

void make_bundle(const io::Path& directory) {
  io::Files& files = io::real_files();
  REQUIRE(files.make_directories(directory / "bin").ok());
  REQUIRE(files.write(directory / "manifest.toml", manifest_text, io::Mode::normal).ok());
  REQUIRE(files.write(directory / "bin/kernel", "#!/bin/sh\necho kernel\n", io::Mode::executable).ok());
  REQUIRE(files.write(directory / "bin/manager", "#!/bin/sh\necho manager\n", io::Mode::executable).ok());
}

protocol::ApplicationStatement statement_of(const PackedBundle& packed) {
  protocol::ApplicationStatement statement;
  statement.name = packed.manifest.name;
  statement.version = packed.manifest.version;
  statement.archive = packed.digest;
  statement.archive_bytes = static_cast<std::int64_t>(packed.archive.size());
  return statement;
}

// As it is done with what was fetched: from a file.
Result<Manifest> install(std::string_view archive, const protocol::ApplicationStatement& statement,
                         const io::Path& into) {
  const TemporaryDirectory elsewhere;
  REQUIRE(io::real_files().write(elsewhere / "archive", archive, io::Mode::normal).ok());
  return install_bundle(elsewhere / "archive", statement, into, unpack_bundle);
}

template <typename T>
std::string refusal(const Result<T>& result, ErrorKind kind) {
  if (result.ok()) return "accepted";
  CHECK(result.error().kind == kind);
  return result.error().message;
}

}  // namespace

TEST_CASE("a bundle goes from the author's directory to a volunteer's, signed") {
  TemporaryDirectory directory;
  make_bundle(directory / "sum");
  const auto keys = create_offline_keys(io::real_files(), directory / "keys", now);
  REQUIRE(keys.ok());
  const auto packed = pack_bundle(directory / "sum");
  if (!packed.ok()) FAIL(packed.error().message);
  CHECK(archive_name(packed->manifest) == "sum-1.2.tar.gz");
  CHECK(packed->digest == crypto::sha256_hex(packed->archive));
  CHECK(pack_bundle(directory / "sum")->digest == packed->digest);

  const auto signed_bundle = sign_bundle(*packed, keys->signer, keys->signer_certificate, keys->project, now);
  const auto read = protocol::decode<protocol::AddApplication>(protocol::encode(signed_bundle));
  REQUIRE(read.ok());
  const auto statement =
      crypto::check_application(read->application, read->signer, keys->root.public_key(), keys->project, now);
  if (!statement.ok()) FAIL(statement.error().message);

  const io::Path installed = directory / "applications/sum";
  const auto manifest = install(packed->archive, *statement, installed);
  if (!manifest.ok()) FAIL(manifest.error().message);
  CHECK(manifest->name == "sum");
  CHECK(io::real_files().read(installed / "bin/kernel", 100).value() == "#!/bin/sh\necho kernel\n");
  CHECK(install(packed->archive, *statement, installed).ok());
  CHECK(io::real_files().list(directory / "applications").value() == std::vector<std::string>{"sum"});
}

TEST_CASE("a bundle without its parts says which is missing") {
  TemporaryDirectory directory;
  io::Files& files = io::real_files();
  says(refusal(read_bundle(directory / "none"), ErrorKind::not_found), "it has no manifest.toml");
  make_bundle(directory / "sum");
  REQUIRE(read_bundle(directory / "sum").ok());
  REQUIRE(files.remove(directory / "sum/bin/kernel").ok());
  says(refusal(pack_bundle(directory / "sum"), ErrorKind::not_found), "build it first");
  REQUIRE(files.write(directory / "sum/bin/kernel", "x", io::Mode::normal).ok());
  says(refusal(pack_bundle(directory / "sum"), ErrorKind::invalid), "chmod +x");
  REQUIRE(files.remove(directory / "sum/bin/kernel").ok());
  std::filesystem::create_symlink("/bin/sh", directory / "sum/bin/kernel");
  says(refusal(pack_bundle(directory / "sum"), ErrorKind::invalid), "is not a file");
  REQUIRE(files.write(directory / "sum/manifest.toml", "name = 3\n", io::Mode::normal).ok());
  says(refusal(read_bundle(directory / "sum"), ErrorKind::invalid), "manifest.toml:1: name: ");
}

TEST_CASE("every changed byte of an archive is refused, and nothing is installed (seeded)") {
  const std::uint64_t seed = 23;
  INFO("seed " << seed);
  Random random(seed);
  TemporaryDirectory directory;
  make_bundle(directory / "sum");
  const PackedBundle packed = pack_bundle(directory / "sum").value();
  const auto statement = statement_of(packed);
  const io::Path into = directory / "into";
  for (std::size_t i = 0; i < packed.archive.size(); ++i) {
    Bytes changed = packed.archive;
    changed[i] = static_cast<char>(changed[i] ^ random.between(1, 255));
    if (refusal(install(changed, statement, into), ErrorKind::untrusted) == "accepted") FAIL("byte " << i);
  }
  says(refusal(install(packed.archive + "x", statement, into), ErrorKind::untrusted), "not the one");
  says(refusal(install("", statement, into), ErrorKind::untrusted), "not the one");
  CHECK(io::real_files().list(directory.path()).value() == std::vector<std::string>{"sum"});
}

TEST_CASE("an archive is what its statement says it is") {
  TemporaryDirectory directory;
  make_bundle(directory / "sum");
  const PackedBundle packed = pack_bundle(directory / "sum").value();
  auto other_name = statement_of(packed);
  other_name.name = "product";
  auto other_version = statement_of(packed);
  other_version.version = "1.3";
  for (const auto& statement : {other_name, other_version}) {
    says(refusal(install(packed.archive, statement, directory / "into"), ErrorKind::untrusted),
         "it was signed as");
    CHECK(io::real_files().list(directory.path()).value() == std::vector<std::string>{"sum"});
  }
  REQUIRE(install(packed.archive, statement_of(packed), directory / "into").ok());
  says(refusal(install(packed.archive, other_name, directory / "into"), ErrorKind::untrusted),
       "it was signed as");
}

TEST_CASE("a length other than the signed one is refused before anything is read") {
  TemporaryDirectory directory;
  make_bundle(directory / "sum");
  const PackedBundle packed = pack_bundle(directory / "sum").value();
  auto statement = statement_of(packed);
  REQUIRE(io::real_files().write(directory / "archive", packed.archive, io::Mode::normal).ok());
  bool asked = false;
  const Unpack unpack = [&](const io::Path&, const std::string&, const io::Path&) -> Status {
    asked = true;
    return {};
  };
  ++statement.archive_bytes;
  says(refusal(install_bundle(directory / "archive", statement, directory / "into", unpack),
               ErrorKind::untrusted),
       "not the one");
  CHECK_FALSE(asked);
}

TEST_CASE("an interrupted installation is begun again") {
  TemporaryDirectory directory;
  make_bundle(directory / "sum");
  const PackedBundle packed = pack_bundle(directory / "sum").value();
  REQUIRE(io::real_files().make_directories(directory / "into.partial/half").ok());
  CHECK(install(packed.archive, statement_of(packed), directory / "into").ok());
  CHECK(io::real_files().list(directory.path()).value() == std::vector<std::string>{"into", "sum"});
}

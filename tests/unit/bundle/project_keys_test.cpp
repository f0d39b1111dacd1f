#include "shared/bundle/project_keys.h"

#include <sys/stat.h>

#include "shared/crypto/statements.h"
#include "shared/io/secret_file.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"

using namespace gleaner;
using namespace gleaner::bundle;
using gleaner::testing::TemporaryDirectory;

namespace {

const Timestamp now = from_microseconds(1'795'212'245'000'000);

}  // namespace

TEST_CASE("offline keys are made once, for their owner only, and certify the signer") {
  TemporaryDirectory directory;
  io::Files& files = io::real_files();
  const auto keys = create_offline_keys(files, directory / "keys", now, {"ann", std::chrono::hours{24}});
  if (!keys.ok()) FAIL(keys.error().message);
  CHECK(keys->project == project_id(keys->root.public_key()));
  const auto root = read_key_file(files, directory / "keys/root.key");
  REQUIRE(root.ok());
  CHECK(root->public_key() == keys->root.public_key());
  CHECK(read_key_file(files, directory / "keys/signer.key")->public_key() == keys->signer.public_key());
  const auto certificate = read_certificate_file(files, directory / "keys/signer.certificate.json");
  REQUIRE(certificate.ok());
  const auto check = [&](Timestamp at) {
    return crypto::check_key_certificate(*certificate, protocol::StatementType::signer_certificate,
                                         root->public_key(), keys->project, at);
  };
  CHECK(check(now)->name == "ann");
  CHECK(check(now)->key == keys->signer.public_key());
  CHECK_FALSE(check(now + std::chrono::hours{25}).ok());

  CHECK(create_offline_keys(files, directory / "keys", now).error().kind == ErrorKind::conflict);
  CHECK(read_key_file(files, directory / "keys/root.key")->public_key() == keys->root.public_key());
}

TEST_CASE("a secret that others can read is refused") {
  TemporaryDirectory directory;
  io::Files& files = io::real_files();
  REQUIRE(files.write(directory / "token", "secret", io::Mode::secret).ok());
  CHECK(io::read_secret_file(files, directory / "token", 100).value() == "secret");
  REQUIRE(::chmod((directory / "token").c_str(), 0640) == 0);
  const auto refused = io::read_secret_file(files, directory / "token", 100);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == ErrorKind::untrusted);
  CHECK(refused.error().message.find("chmod 600") != std::string::npos);
  CHECK(io::read_secret_file(files, directory / "none", 100).error().kind == ErrorKind::not_found);
}

TEST_CASE("what is not a key or certificate says which file") {
  TemporaryDirectory directory;
  io::Files& files = io::real_files();
  REQUIRE(files.write(directory / "root.key", "nonsense", io::Mode::secret).ok());
  const auto key = read_key_file(files, directory / "root.key");
  REQUIRE_FALSE(key.ok());
  CHECK(key.error().message.find((directory / "root.key").string()) != std::string::npos);
  REQUIRE(files.write(directory / "c.json", "{}", io::Mode::normal).ok());
  const auto certificate = read_certificate_file(files, directory / "c.json");
  REQUIRE_FALSE(certificate.ok());
  CHECK(certificate.error().message.find("c.json") != std::string::npos);
}

// A project's directory: what init makes, what the server reads of it, and what it says of damage.
#include "server/service/core/project_directory.h"

#include <filesystem>

#include "server/service/core/manager_sandbox.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/join_code.h"
#include "tests/unit/io/temporary_directory.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace gleaner::service;

namespace {

struct Initialised {
  gleaner::testing::TemporaryDirectory temporary;
  InitOptions options;
  Timestamp now = system_clock().now();
  InitReport report;

  Initialised() {
    options.directory = temporary.path() / "project";
    options.offline = temporary.path() / "offline";
    options.configuration.address = "127.0.0.1";
    options.configuration.port = 4711;
    auto made = init_project(io::real_files(), options, now);
    INFO((made.ok() ? "" : made.error().message));
    REQUIRE(made.ok());
    report = *made;
  }
  [[nodiscard]] ProjectDirectory directory() const { return ProjectDirectory(options.directory); }
  [[nodiscard]] Result<ProjectSecrets> read() const {
    return read_secrets(io::real_files(), directory(), now);
  }
  void overwrite(const io::Path& path, const std::string& text) const {
    REQUIRE(io::real_files().write(path, text, io::Mode::secret).ok());
  }
  // Reading must fail with this.
  void fails(const std::string& why) const {
    const auto secrets = read();
    REQUIRE(!secrets.ok());
    CHECK(says(secrets.error().message, why));
  }
};

}  // namespace

TEST_CASE("what init makes the server reads") {
  const Initialised made;
  const auto secrets = made.read();
  REQUIRE(secrets.ok());
  CHECK(secrets->project == made.report.project);
  CHECK(secrets->enrolment_secret.size() == 16);
  CHECK(secrets->work_certificate_expires > made.now + std::chrono::hours{24 * 700});
  const auto code = protocol::parse_join_code(made.report.join_code);
  REQUIRE(code.ok());
  CHECK(code->host == "127.0.0.1");
  CHECK(code->port == 4711);
  CHECK(code->enrolment_secret == secrets->enrolment_secret);
  CHECK(protocol::to_text(join_code(made.options.configuration, secrets->root_key, secrets->enrolment_secret,
                                    4711)) == made.report.join_code);
  CHECK(code->certificate == protocol::Certificate::project);
  auto configuration = made.options.configuration;
  configuration.public_certificate = true;
  CHECK(join_code(configuration, secrets->root_key, secrets->enrolment_secret, 4711).certificate ==
        protocol::Certificate::either);
}

TEST_CASE("secrets are for their owner's eyes, and the offline keys are elsewhere") {
  const Initialised made;
  namespace fs = std::filesystem;
  for (const auto& path : {made.directory().work_key(), made.directory().tls_key(),
                           made.directory().enrolment_secret(), made.directory().admin_token()}) {
    const auto others = fs::status(path).permissions() & (fs::perms::group_all | fs::perms::others_all);
    CHECK(others == fs::perms::none);
  }
  CHECK(fs::exists(made.options.offline / "root.key"));
  for (const auto& entry : fs::recursive_directory_iterator(made.options.directory))
    CHECK(entry.path().filename() != "root.key");
}

TEST_CASE("a directory that holds a project is never made again") {
  const Initialised made;
  const auto again = init_project(io::real_files(), made.options, made.now);
  REQUIRE(!again.ok());
  CHECK(again.error().kind == ErrorKind::conflict);
  CHECK(says(again.error().message, "already holds a project"));
}

TEST_CASE(
    "what `run` would refuse, and a code nobody could join with, are refused before there is a project") {
  const gleaner::testing::TemporaryDirectory temporary;
  InitOptions options;
  options.directory = temporary.path() / "project";
  options.offline = temporary.path() / "offline";
  const auto refused = [&](const std::string& why) {
    const auto made = init_project(io::real_files(), options, system_clock().now());
    REQUIRE(!made.ok());
    CHECK(made.error().kind == ErrorKind::invalid);
    CHECK(says(made.error().message, why));
    CHECK(std::filesystem::is_empty(temporary.path()));
  };
  for (const std::string& name :
       {std::string(), std::string(65, 'x'), std::string("two\nlines"), std::string("a\x1b[2J"),
        std::string("a\xE2\x80\xAE"
                    "b")}) {
    options.configuration.name = name;
    refused("project.name: expected one line of 1 to 64 bytes");
  }
  options.configuration.name = "Good";
  for (const char* host : {"a b", "https://grid.example.org", "x\ny"}) {
    options.configuration.public_host = host;
    refused("--public-host");
  }
  options.configuration.public_host = "grid.example.org";
  CHECK(init_project(io::real_files(), options, system_clock().now()).ok());
}

TEST_CASE("a directory without a project says how to make one") {
  const gleaner::testing::TemporaryDirectory empty;
  const auto secrets = read_secrets(io::real_files(), ProjectDirectory(empty.path()), system_clock().now());
  REQUIRE(!secrets.ok());
  CHECK(secrets.error().kind == ErrorKind::not_found);
  CHECK(says(secrets.error().message, "gleaner-server init"));
}

TEST_CASE("damage is told with the file and the way out") {
  const Initialised made;
  const auto directory = made.directory();
  const auto restored = [&](const io::Path& path, const std::string& bad, const std::string& why) {
    const auto good = io::real_files().read(path, 1 << 20);
    REQUIRE(good.ok());
    made.overwrite(path, bad);
    made.fails(why);
    made.overwrite(path, *good);
    CHECK(made.read().ok());
  };
  restored(directory.root_public_key(), "zz", "restore it from a backup");
  restored(directory.enrolment_secret(), "abc", "32 hex digits");
  restored(directory.admin_token(), "short\n", "expected a token");
  restored(directory.work_key(), crypto::PrivateKey::generate().to_pem(), "is for another key");
}

TEST_CASE("an expired certificate says how to certify the key again") {
  Initialised made;
  made.now += std::chrono::hours{24 * 731};
  made.fails("gleaner-admin keys work");
}

TEST_CASE("settings: what is written is read back, and mistakes are named") {
  Configuration configuration;
  configuration.name = "A name = with \"quotes\"";
  configuration.port = 1234;
  configuration.unit_minimum_seconds = 0.5;
  configuration.strategy = "wis,mode=grid";
  configuration.check_store_at_start = false;
  const auto again = parse_configuration(render_configuration(configuration), "server.toml");
  INFO((again.ok() ? "" : again.error().message));
  REQUIRE(again.ok());
  CHECK(again->name == configuration.name);
  CHECK(again->port == 1234);
  CHECK(again->unit_minimum_seconds == 0.5);
  CHECK(again->strategy == configuration.strategy);
  CHECK(!again->check_store_at_start);
  const auto wrong = [](const std::string& text, const std::string& why) {
    const auto parsed = parse_configuration(text, "server.toml");
    REQUIRE(!parsed.ok());
    CHECK(says(parsed.error().message, why));
    CHECK(says(parsed.error().message, "server.toml"));
  };
  wrong("[server]\nport = 70000\n", "port");
  wrong("[server]\nprot = 7000\n", "prot");
  wrong("[project]\nname = \"\"\n", "1 to 64 bytes");
  wrong("[work]\nstrategy = \"magic\"\n", "no strategy 'magic'");
  wrong("[work]\nstraggler = \"magic\"\n", "magic");
  wrong("[log]\nlevel = \"loud\"\n", "trace, debug");
  wrong("[managers]\nsandbox = \"off\"\n", manager_sandbox_off);
}

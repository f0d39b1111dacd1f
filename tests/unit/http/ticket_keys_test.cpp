// Sessions resume across restarts, as long as their key is there; and the keys' file.
#include "server/http/ticket_keys.h"

#include <sys/stat.h>

#include "tests/catch.h"
#include "tests/unit/http/peer.h"

using namespace gleaner;
using namespace gleaner::http;
using namespace gleaner::http::testing;
using namespace std::chrono_literals;

namespace {

struct SessionOwner {
  SSL_SESSION* session = nullptr;
  ~SessionOwner() { SSL_SESSION_free(session); }
};

struct Scene {
  TemporaryDirectory directory;
  io::Path file = directory.path / "tickets";
  FakeClock clock;  // changed only while no server runs
  std::vector<std::string> lines;
  Identity identity = test_identity();

  std::shared_ptr<TicketKeys> keys(io::Files& files = io::real_files()) {
    return std::make_shared<TicketKeys>(files, file, clock,
                                        [this](const std::string& line) { lines.push_back(line); });
  }
  std::unique_ptr<Server> serve() {
    ServerOptions options = test_options();
    options.tickets = keys();
    options.certificate_chain_pem = identity.certificate_pem;
    options.private_key_pem = identity.key_pem;
    return start(std::move(options), echo_handler());
  }
  // A server's ticket.
  void fetch(SessionOwner& owner, int version = TLS1_3_VERSION) {
    const auto server = serve();
    Peer peer(server->port(), {.newest_version = version});
    REQUIRE(peer.ask(get("/")));
    owner.session = SSL_get1_session(peer.ssl());
  }
  // Does another server, started later, take it?
  bool resumes(const SessionOwner& owner, int version = TLS1_3_VERSION) {
    const auto server = serve();
    Peer peer(server->port(), {.newest_version = version, .session = owner.session});
    REQUIRE(peer.ask(get("/")));  // one way or the other
    return SSL_session_reused(peer.ssl()) == 1;
  }
};

}  // namespace

TEST_CASE("sessions resume after a restart of the server, by a file that nobody else may read") {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    INFO("version " << version);
    Scene scene;
    SessionOwner ticket;
    scene.fetch(ticket, version);
    CHECK(scene.resumes(ticket, version));
    struct stat about {};
    REQUIRE(::stat(scene.file.c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0600);
    REQUIRE(std::filesystem::remove(scene.file));
    CHECK_FALSE(scene.resumes(ticket, version));
    CHECK(scene.lines.empty());
  }
}

TEST_CASE("a ticket of the key before is good, one of the key before that is not") {
  Scene scene;
  SessionOwner ticket;
  scene.fetch(ticket);
  const std::string first = scene.keys()->sealing().name;
  scene.clock.advance(TicketKeys::period);
  CHECK(scene.resumes(ticket));
  CHECK(scene.keys()->sealing().name != first);
  CHECK(scene.keys()->opening(first));
  CHECK_FALSE(scene.keys()->opening(first)->newest);
  scene.clock.advance(TicketKeys::period);
  CHECK_FALSE(scene.resumes(ticket));
  CHECK_FALSE(scene.keys()->opening(first));
}

TEST_CASE("a key that has not been used for long is not used again, nor one of the future") {
  Scene scene;
  const std::string name = scene.keys()->sealing().name;
  SECTION("old") {
    scene.clock.advance(2 * TicketKeys::period);
  }
  SECTION("of the future") {
    scene.clock.advance(-1h);
  }
  CHECK_FALSE(scene.keys()->opening(name));
  CHECK(scene.keys()->sealing().name != name);
}

TEST_CASE("a session holds for the certificate that it began with") {
  Scene scene;
  SessionOwner ticket;
  scene.fetch(ticket);
  scene.identity = make_identity();
  CHECK_FALSE(scene.resumes(ticket));
}

TEST_CASE("a file of ticket keys that cannot be used is replaced, and the log says so") {
  Scene scene;
  (void)scene.keys()->sealing();
  const Bytes good = io::real_files().read(scene.file, 10'000).value();
  SECTION("cut off") {
    REQUIRE(io::real_files().write(scene.file, good.substr(0, good.size() - 1), io::Mode::secret).ok());
  }
  SECTION("of another kind") {
    REQUIRE(io::real_files().write(scene.file, "x" + good, io::Mode::secret).ok());
  }
  SECTION("too many keys") {
    const std::string line = good.substr(good.find('\n') + 1);
    REQUIRE(io::real_files().write(scene.file, good + line + line, io::Mode::secret).ok());
  }
  SECTION("readable by others") {
    REQUIRE(io::real_files().write(scene.file, good, io::Mode::normal).ok());
  }
  const std::string name = scene.keys()->sealing().name;
  CHECK(scene.lines.size() == 1);
  CHECK(scene.keys()->sealing().name == name);
  CHECK(scene.lines.size() == 1);
}

TEST_CASE("without a disk for its keys the server serves all the same") {
  Scene scene;
  io::FaultyFiles files(io::real_files());
  files.before_change = [](std::string_view, const io::Path&) {
    return Status(Error{ErrorKind::io, "No space left on device"});
  };
  const auto keys = scene.keys(files);
  const auto key = keys->sealing();
  CHECK(keys->opening(key.name)->newest);
  CHECK(scene.lines.size() == 1);
}

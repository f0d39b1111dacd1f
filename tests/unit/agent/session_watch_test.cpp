#include "client/agent/session_watch.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "tests/catch.h"

namespace gleaner::agent {
namespace {
using namespace std::chrono_literals;

// A client that listens.
struct Listener {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("gleaner-uplink-" + std::to_string(::getpid()) + ".sock");
  io::Descriptor listener;

  void open() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());  // NOLINT: the path is ours
    listener = io::Descriptor(::socket(AF_UNIX, SOCK_STREAM, 0));
    REQUIRE(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener.get(), 4) == 0);
  }
  ~Listener() { std::filesystem::remove(path); }
  [[nodiscard]] io::Descriptor accept() const {
    return io::Descriptor(::accept(listener.get(), nullptr, nullptr));
  }
};

std::string line_from(const io::Descriptor& connection) {
  char bytes[4096];
  const ssize_t got = ::recv(connection.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : "";
}

TEST_CASE("An uplink finds a client when it comes, tells it, and looks for it again when it has gone") {
  Listener client;
  Uplink uplink({client.path, "/nowhere/at/all.sock"});
  const SteadyTime start{1h};
  CHECK_FALSE(uplink.serve(start));
  CHECK(uplink.wait_until() == start + Uplink::retry_interval);
  client.open();
  CHECK_FALSE(uplink.serve(start + 1s));  // not yet
  CHECK(uplink.serve(start + 10s));
  CHECK(uplink.clients() == 1);
  CHECK(uplink.wait_until() == start + 10s + Uplink::others_interval);
  {
    const io::Descriptor connection = client.accept();
    uplink.tell("hello");
    CHECK(line_from(connection) == "hello\n");
    CHECK_FALSE(uplink.serve(start + 11s));
    CHECK(uplink.waitables().size() == 1);
  }
  CHECK_FALSE(uplink.serve(start + 12s));
  CHECK(uplink.clients() == 0);
  CHECK(uplink.serve(start + 22s));
}

TEST_CASE("A client that does not read is left, not waited for") {
  Listener client;
  client.open();
  Uplink uplink({client.path});
  REQUIRE(uplink.serve(SteadyTime{1h}));
  const io::Descriptor connection = client.accept();
  for (int i = 0; i < 10000 && uplink.clients() == 1; ++i) uplink.tell(std::string(4000, 'x'));
  CHECK(uplink.clients() == 0);
}

TEST_CASE("Without anything to watch there is no session") {
  SessionWatch watch({}, "", Uplink({}), system_clock());
  CHECK(watch.empty());
  CHECK(watch.missing().empty());
  SourceSettings settings;
  settings.x_display = ":7654";
  settings.bus = "unix:path=/nowhere/bus";
  SessionWatch nowhere(settings, "", Uplink({}), system_clock());
  CHECK(nowhere.missing().size() >= 1);
  CHECK(nowhere.missing()[0].find(":7654") != std::string::npos);
}

}  // namespace
}  // namespace gleaner::agent

// Who is at the other end of a connection over the loopback device.
#include "shared/io/loopback_peer.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/io/descriptor.h"
#include "tests/catch.h"

using namespace gleaner::io;

TEST_CASE("the user of a connection's other end is known as long as a process has it open") {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  socklen_t size = sizeof place;
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(listener.get(), address, size) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  REQUIRE(::getsockname(listener.get(), address, &size) == 0);
  CHECK_FALSE(peer_is_of_own_user(listener.get()));
  Descriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(client.get(), address, size) == 0);
  const Descriptor accepted(::accept(listener.get(), nullptr, nullptr));
  REQUIRE(accepted.valid());
  CHECK(peer_is_of_own_user(accepted.get()));
  CHECK(peer_is_of_own_user(client.get()));
  client.reset();
  // Whoever closed it is nobody: the system would say that it is the superuser.
  CHECK_FALSE(peer_is_of_own_user(accepted.get()));
  CHECK_FALSE(peer_is_of_own_user(-1));
}

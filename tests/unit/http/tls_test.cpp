#include <fcntl.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/tls_context.h"
#include "server/http/tls_session.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/http/peer.h"

using namespace gleaner;
using namespace gleaner::http;
using namespace gleaner::http::testing;

namespace {

// A client whose bytes pass through memory, so that the test decides when how many of them travel.
struct MemoryClient {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* ssl = SSL_new(context);
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  MemoryClient() {
    SSL_set_bio(ssl, in, out);
    SSL_set_connect_state(ssl);
  }
  ~MemoryClient() {
    SSL_free(ssl);
    SSL_CTX_free(context);
    ERR_clear_error();
  }
  MemoryClient(const MemoryClient&) = delete;
  MemoryClient& operator=(const MemoryClient&) = delete;
};

struct Wire {
  int ends[2] = {-1, -1};
  Wire() {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    const int small = 4096;
    for (const int end : ends) {
      ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
      ::setsockopt(end, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    }
  }
  ~Wire() {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
};

// Carries up to `bytes_max` bytes each way between the client and its end of the wire; flips one bit at
// random with the given chance.
void carry(MemoryClient& client, int wire, Random& random, std::size_t bytes_max, double damage) {
  std::string piece(1 + random.below(bytes_max), '\0');
  const auto harm = [&](std::string& bytes) {
    if (!bytes.empty() && random.chance(damage))
      bytes[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
  };
  const int out = BIO_read(client.out, piece.data(), static_cast<int>(piece.size()));
  if (out > 0) {
    std::string bytes = piece.substr(0, static_cast<std::size_t>(out));
    harm(bytes);
    // The test's wire holds far less than the client's messages: what does not fit goes back to the front.
    const ssize_t sent = ::send(wire, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::string rest = bytes.substr(sent > 0 ? static_cast<std::size_t>(sent) : 0);
    if (!rest.empty()) {
      char* data = nullptr;
      const long size = BIO_get_mem_data(client.out, &data);
      rest.append(data, static_cast<std::size_t>(size));
      BIO_reset(client.out);
      BIO_write(client.out, rest.data(), static_cast<int>(rest.size()));
    }
  }
  const ssize_t in = ::recv(wire, piece.data(), piece.size(), 0);
  if (in > 0) {
    std::string bytes = piece.substr(0, static_cast<std::size_t>(in));
    harm(bytes);
    BIO_write(client.in, bytes.data(), static_cast<int>(bytes.size()));
  }
}

TlsContext test_context() {
  auto made = TlsContext::make(test_identity().certificate_pem, test_identity().key_pem);
  REQUIRE(made.ok());
  return std::move(made).value();
}

// Both sides send `bytes` to each other over a stuttering wire. True if all arrived unharmed.
bool exchange(const TlsContext& context, Random& random, const std::string& bytes, double damage) {
  Wire wire;
  MemoryClient client;
  TlsSession server(context, wire.ends[0]);
  std::string at_server;
  std::string at_client;
  std::size_t from_server = 0;
  std::size_t from_client = 0;
  bool shaken = false;
  const std::size_t step = 1 + random.below(9000);
  char buffer[3000];
  for (int turn = 0; turn < 2'000'000; ++turn) {
    carry(client, wire.ends[1], random, step, damage);
    ERR_clear_error();
    if (SSL_do_handshake(client.ssl) == 1) {
      if (from_client < bytes.size()) {
        const int n = SSL_write(client.ssl, bytes.data() + from_client,
                                static_cast<int>(std::min<std::size_t>(5000, bytes.size() - from_client)));
        if (n > 0) from_client += static_cast<std::size_t>(n);
      }
      const int n = SSL_read(client.ssl, buffer, sizeof buffer);
      if (n > 0)
        at_client.append(buffer, static_cast<std::size_t>(n));
      else if (SSL_get_error(client.ssl, n) == SSL_ERROR_SSL)
        return false;
    } else if (SSL_get_error(client.ssl, -1) == SSL_ERROR_SSL) {
      return false;
    }
    if (!shaken) {
      const auto outcome = server.shake_hands();
      if (outcome == TlsSession::Outcome::failed) {
        CHECK(server.read(buffer, sizeof buffer).outcome == TlsSession::Outcome::failed);  // stays so
        return false;
      }
      shaken = outcome == TlsSession::Outcome::done;
      continue;
    }
    const auto got = server.read(buffer, 1 + random.below(sizeof buffer));
    if (got.outcome == TlsSession::Outcome::failed || got.outcome == TlsSession::Outcome::closed)
      return false;
    CHECK((got.bytes > 0) == (got.outcome == TlsSession::Outcome::done));
    at_server.append(buffer, got.bytes);
    if (from_server < bytes.size()) {
      const auto sent = server.write(std::string_view(bytes).substr(from_server));
      if (sent.outcome == TlsSession::Outcome::failed) return false;
      from_server += sent.bytes;
    }
    if (at_server.size() >= bytes.size() && at_client.size() >= bytes.size()) break;
  }
  return at_server == bytes && at_client == bytes;
}

}  // namespace

TEST_CASE("a TLS session survives any cutting of its bytes") {
  const TlsContext context = test_context();
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    std::string bytes(20'000 + random.below(100'000), '\0');
    for (char& c : bytes) c = static_cast<char>(random.below(256));
    CHECK(exchange(context, random, bytes, 0.0));
  }
}

TEST_CASE("damaged TLS bytes are never taken for data") {
  const TlsContext context = test_context();
  const std::string bytes(30'000, 'd');
  int harmed = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    if (!exchange(context, random, bytes, seed % 3 == 0 ? 0.02 : 0.3)) ++harmed;
  }
  CHECK(harmed > 40);
}

TEST_CASE("a write to a vanished peer fails without a signal") {
  const TlsContext context = test_context();
  Wire wire;
  TlsSession server(context, wire.ends[0]);
  ::close(wire.ends[1]);
  wire.ends[1] = -1;
  CHECK(server.shake_hands() == TlsSession::Outcome::failed);
  CHECK(server.write("x").outcome == TlsSession::Outcome::failed);
  server.say_goodbye();
}

TEST_CASE("TLS 1.1 is refused, 1.2 and 1.3 are spoken with forward secrecy and resume") {
  const auto server = start(test_options(), echo_handler());
  CHECK_FALSE(Peer(server->port(), {.newest_version = TLS1_VERSION}).connected());
  CHECK_FALSE(Peer(server->port(), {.newest_version = TLS1_1_VERSION}).connected());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    INFO("version " << version);
    Peer first(server->port(), {.newest_version = version});
    REQUIRE(first.connected());
    CHECK(SSL_version(first.ssl()) == version);
    const std::string cipher = SSL_get_cipher_name(first.ssl());
    CHECK((version == TLS1_3_VERSION || cipher.starts_with("ECDHE-")));
    CHECK(first.ask(get("/"))->status == 200);
    SSL_SESSION* session = SSL_get1_session(first.ssl());
    Peer second(server->port(), {.newest_version = version, .session = session});
    CHECK(second.connected());
    CHECK(SSL_session_reused(second.ssl()) == 1);
    CHECK(second.ask(get("/"))->status == 200);
    SSL_SESSION_free(session);
  }
}

TEST_CASE("renegotiation is refused; key updates are not") {
  const auto server = start(test_options(), echo_handler());
  Peer old(server->port(), {.newest_version = TLS1_2_VERSION});
  REQUIRE(old.connected());
  SSL_renegotiate(old.ssl());
  const bool again = SSL_do_handshake(old.ssl()) == 1 && old.ask(get("/")).has_value();
  CHECK_FALSE(again);
  Peer updating(server->port());
  for (int i = 0; i < 5; ++i) {
    SSL_key_update(updating.ssl(), SSL_KEY_UPDATE_REQUESTED);
    CHECK(updating.ask(post("/", "new key"))->body == "new key");
  }
}

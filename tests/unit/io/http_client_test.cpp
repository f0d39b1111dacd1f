#include "shared/io/http_client.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "shared/io/descriptor.h"
#include "shared/io/reach.h"
#include "tests/catch.h"
#include "tests/unit/io/temporary_directory.h"
#include "tests/unit/io/tls_server.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace gleaner::io;
using namespace gleaner::testing;
using namespace std::chrono_literals;

namespace {

constexpr Duration day = std::chrono::hours{24};

struct Fixture {
  crypto::PrivateKey root = crypto::PrivateKey::generate();
  Timestamp now = system_clock().now();

  [[nodiscard]] crypto::TlsIdentity identity(Timestamp from, Timestamp until) const {
    return crypto::make_tls_identity(root, {"localhost"}, from, until);
  }
  [[nodiscard]] crypto::TlsIdentity identity() const { return identity(now - day, now + day); }
  [[nodiscard]] Bytes pin() const { return crypto::fingerprint(root.public_key()); }
  [[nodiscard]] std::unique_ptr<HttpClient> client() const {
    return make_curl_client({pin()}, "gleaner-test/1");
  }
};

HttpRequest get(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.timeout = 60s;  // a busy machine with sanitizers is slow
  return request;
}

std::string echo(const std::string& request) {
  return reply_with(request, "X-Reply: a\r\nx-reply:  b \r\n");
}

std::string failure_of(HttpClient& client, const HttpRequest& request, ErrorKind kind) {
  const auto reply = client.send(request);
  if (reply.ok()) return "accepted";
  INFO(reply.error().message);
  CHECK(reply.error().kind == kind);
  return reply.error().message;
}

// The system's authorities, as OpenSSL is told by its variable, for the life of this object.
class SystemAuthorities {
 public:
  explicit SystemAuthorities(const std::string& pem) {
    std::ofstream(directory_ / "authorities.pem") << pem;
    ::setenv("SSL_CERT_FILE", (directory_ / "authorities.pem").c_str(), 1);
  }
  ~SystemAuthorities() { ::unsetenv("SSL_CERT_FILE"); }

 private:
  TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("a pinned server is talked to over one kept connection") {
  const Fixture fixture;
  TlsServer server(fixture.identity(), echo);
  const auto client = fixture.client();
  HttpRequest request = get(server.url("/a?b=c"));
  request.headers = {{"Authorization", "Bearer t"}, {"X-Empty", ""}};
  const auto reply = client->send(request);
  if (!reply.ok()) FAIL(reply.error().message);
  CHECK(reply->status == 200);
  CHECK(reply->headers.at("x-reply") == "a, b");
  CHECK(reply->round_trip > 0us);
  CHECK(reply->body.starts_with("GET /a?b=c HTTP/1.1\r\n"));
  says(reply->body, "\r\nUser-Agent: gleaner-test/1\r\n");
  says(reply->body, "\r\nAuthorization: Bearer t\r\n");
  says(reply->body, "\r\nX-Empty:\r\n");
  for (int i = 0; i < 3; ++i) CHECK(client->send(request).ok());
  CHECK(server.connections() == 1);
}

TEST_CASE("methods and bodies arrive as they were given") {
  const Fixture fixture;
  TlsServer server(fixture.identity(), echo);
  const auto client = fixture.client();
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "GET"}) {
    for (const Bytes& body : {Bytes(), Bytes("a\0b", 3), Bytes(3 << 20, 'x')}) {
      INFO(method << " with " << body.size() << " bytes");
      HttpRequest request = get(server.url("/"));
      request.method = method;
      request.body = body;
      if (!body.empty()) request.headers = {{"Content-Type", "application/json"}};
      const auto reply = client->send(request);
      if (!reply.ok()) FAIL(reply.error().message);
      CHECK(reply->body.starts_with(std::string(method) + " / HTTP/1.1\r\n"));
      CHECK(reply->body.ends_with("\r\n\r\n" + body));
      CHECK(reply->body.find("Expect:") == std::string::npos);
      const bool has_type = reply->body.find("Content-Type: application/json\r\n") != std::string::npos;
      CHECK(has_type == !body.empty());
      CHECK(reply->body.find("urlencoded") == std::string::npos);
    }
  }
  HttpRequest head = get(server.url("/"));
  head.method = "HEAD";
  TlsServer lengths(fixture.identity(), [](const std::string& request) {
    return request.starts_with("HEAD ") ? "HTTP/1.1 204 No Content\r\nContent-Length: 12345\r\n\r\n" : "";
  });
  head.url = lengths.url("/");
  const auto reply = client->send(head);
  if (!reply.ok()) FAIL(reply.error().message);
  CHECK(reply->status == 204);
  CHECK(reply->body.empty());
  head.method = "BREW";
  failure_of(*client, head, ErrorKind::invalid);
}

TEST_CASE("statuses are replies, redirects are not followed") {
  const Fixture fixture;
  TlsServer server(fixture.identity(), [](const std::string& request) -> std::string {
    if (request.starts_with("GET /moved"))
      return "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n";
    return "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: "
           "7\r\nContent-Length: 2\r\n\r\nno";
  });
  const auto client = fixture.client();
  CHECK(client->send(get(server.url("/moved")))->status == 302);
  const auto busy = client->send(get(server.url("/")));
  if (!busy.ok()) FAIL(busy.error().message);
  CHECK(busy->status == 503);
  CHECK(busy->headers.at("retry-after") == "7");
  CHECK(busy->headers.count("x-early") == 0);
  CHECK(busy->body == "no");
}

TEST_CASE("a server without the pinned root key is refused before a byte is sent") {
  const Fixture fixture, other;
  bool asked = false;
  TlsServer server(other.identity(), [&](const std::string&) {
    asked = true;
    return reply_with("");
  });
  const auto client = fixture.client();
  HttpRequest request = get(server.url("/"));
  request.headers = {{"Authorization", "Bearer secret"}};
  const std::string message = failure_of(*client, request, ErrorKind::untrusted);
  says(message, "127.0.0.1:" + std::to_string(server.port()));
  says(message, "does not belong to the project of the join code");
  says(message, "check that code and the server's address");
  CHECK_FALSE(asked);
}

TEST_CASE("an expired or future certificate is refused with its date") {
  const Fixture fixture;
  const auto client = fixture.client();
  TlsServer expired(fixture.identity(fixture.now - 2 * day, fixture.now - day), echo);
  says(failure_of(*client, get(expired.url("/")), ErrorKind::untrusted), "expired at");
  TlsServer early(fixture.identity(fixture.now + day, fixture.now + 2 * day), echo);
  says(failure_of(*client, get(early.url("/")), ErrorKind::untrusted), "valid only from");
  TlsServer fine(fixture.identity(), echo);
  CHECK(client->send(get(fine.url("/"))).ok());  // an old refusal does not stick
}

TEST_CASE("the system's authorities decide where they are meant, and the host name counts") {
  const Fixture fixture, other;
  const SystemAuthorities authorities(fixture.identity().certificate_chain_pem);
  TlsServer server(fixture.identity(), echo);
  const auto unpinned = make_curl_client(any_authority, "gleaner-test/1");
  const auto reply = unpinned->send(get(server.url("/", "localhost")));
  if (!reply.ok()) FAIL(reply.error().message);
  says(failure_of(*unpinned, get(server.url("/", "127.0.0.1")), ErrorKind::untrusted), "mismatch");
  const auto either = make_curl_client({other.pin(), true}, "gleaner-test/1");
  CHECK(either->send(get(server.url("/", "localhost"))).ok());
  says(failure_of(*either, get(server.url("/", "127.0.0.1")), ErrorKind::untrusted), "join code");
  TlsServer own(other.identity(), echo);
  CHECK(either->send(get(own.url("/", "127.0.0.1"))).ok());
}

TEST_CASE("an authority that the system trusts does not stand in for the pinned root key") {
  const Fixture fixture, between;
  const SystemAuthorities authorities(between.identity().certificate_chain_pem);
  std::atomic<int> asked = 0;
  TlsServer server(between.identity(), [&](const std::string& request) {
    ++asked;
    return echo(request);
  });
  const auto client = fixture.client();
  for (int i = 0; i < 2; ++i)
    says(failure_of(*client, get(server.url("/", "localhost")), ErrorKind::untrusted),
         "something between here and the server reads this connection");
  CHECK(asked == 0);
}

TEST_CASE("a refused TLS key ends connections and is accepted from nobody") {
  const Fixture fixture;
  const auto identity = fixture.identity();
  const std::string digest = crypto::tls_key_digest(identity.certificate_chain_pem).value();
  TlsServer server(identity, echo);
  const auto refused = std::make_shared<RefusedTlsKeys>();
  const auto client = make_curl_client({fixture.pin()}, "gleaner-test/1", {}, refused);
  CHECK(client->send(get(server.url("/"))).ok());
  refused->set({crypto::sha256_hex("another")});
  CHECK(client->send(get(server.url("/"))).ok());
  refused->set({crypto::sha256_hex("another"), digest});
  // Not over the connection that is open, and not where a system's authority vouches for the key.
  says(failure_of(*client, get(server.url("/")), ErrorKind::untrusted), "revoked");
  const SystemAuthorities authorities(identity.certificate_chain_pem);
  const auto unpinned = make_curl_client(any_authority, "gleaner-test/1", {}, refused);
  says(failure_of(*unpinned, get(server.url("/")), ErrorKind::untrusted), "revoked");
  // Another key of the same project is as good as ever.
  TlsServer renewed(fixture.identity(), echo);
  CHECK(client->send(get(renewed.url("/"))).ok());
}

TEST_CASE("a pinned TLS key is trusted without a chain, it alone, and over no connection of before") {
  const Fixture fixture, other;
  const auto identity = other.identity();
  TlsServer server(identity, echo);
  TlsServer another(other.identity(), echo);
  const auto pinned = std::make_shared<PinnedTlsKey>();
  const auto refused = std::make_shared<RefusedTlsKeys>();
  const auto client = make_curl_client({fixture.pin()}, "gleaner-test/1", {}, refused, pinned);
  says(failure_of(*client, get(server.url("/")), ErrorKind::untrusted), "join code");
  pinned->set(crypto::tls_key_digest(identity.certificate_chain_pem).value());
  CHECK(client->send(get(server.url("/"))).ok());
  says(failure_of(*client, get(another.url("/")), ErrorKind::untrusted), "join code");
  // The project's own server is what it was.
  TlsServer own(fixture.identity(), echo);
  CHECK(client->send(get(own.url("/"))).ok());
  pinned->set(crypto::sha256_hex("another"));
  says(failure_of(*client, get(server.url("/")), ErrorKind::untrusted), "join code");
  pinned->set(crypto::tls_key_digest(identity.certificate_chain_pem).value());
  CHECK(client->send(get(server.url("/"))).ok());
  refused->set({pinned->digest()});
  says(failure_of(*client, get(server.url("/")), ErrorKind::untrusted), "revoked");
}

TEST_CASE("an inquiring client says whose key it was shown, and tells nobody anything") {
  const Fixture fixture, other;
  const auto identity = fixture.identity();
  TlsServer server(identity, echo);
  const auto client = make_inquiring_client("gleaner-test/1");
  for (int i = 1; i <= 3; ++i) {
    const auto reply = client->send(get(server.url("/v1/relay")));
    REQUIRE(reply.ok());
    CHECK(reply->tls_key == crypto::tls_key_digest(identity.certificate_chain_pem).value());
    CHECK(server.connections() == i);  // a handshake for each, or there was no key to see
  }
  TlsServer second(other.identity(), echo);
  CHECK(client->send(get(second.url("/")))->tls_key != client->send(get(server.url("/")))->tls_key);
  HttpRequest request = get(server.url("/"));
  request.headers = {{"Authorization", "Bearer t"}};
  says(failure_of(*client, request, ErrorKind::invalid), "nothing was sent");
  request = get(server.url("/"));
  request.method = "POST";
  request.body = "secret";
  says(failure_of(*client, request, ErrorKind::invalid), "nothing was sent");
  const auto trusting = fixture.client();
  CHECK(trusting->send(get(server.url("/")))->tls_key.empty());
}

TEST_CASE("an unpinned client trusts no unknown authority") {
  const Fixture fixture;
  TlsServer server(fixture.identity(), echo);
  const auto unpinned = make_curl_client(any_authority, "gleaner-test/1");
  says(failure_of(*unpinned, get(server.url("/", "localhost")), ErrorKind::untrusted),
       "do not vouch for localhost");
}

TEST_CASE("replies are bounded") {
  const Fixture fixture;
  TlsServer server(fixture.identity(), [](const std::string& request) {
    if (request.starts_with("GET /headers")) return reply_with("", "X: " + std::string(20'000, 'h') + "\r\n");
    return reply_with(std::string(100'000, 'b'));
  });
  const auto client = fixture.client();
  HttpRequest request = get(server.url("/"));
  request.reply_bytes_max = 100'000;
  CHECK(client->send(request)->body.size() == 100'000);
  request.reply_bytes_max = 99'999;
  says(failure_of(*client, request, ErrorKind::too_large), "99999");
  says(failure_of(*client, get(server.url("/headers")), ErrorKind::too_large), "headers");
  CHECK(client->send(get(server.url("/"))).ok());  // and the client goes on
}

TEST_CASE("a connection that the server closed in between is made anew") {
  const Fixture fixture;
  TlsServer server(fixture.identity(), echo, {true, true});
  const auto client = fixture.client();
  for (int i = 0; i < 3; ++i) CHECK(client->send(get(server.url("/"))).ok());
  CHECK(server.connections() == 3);
}

TEST_CASE("a request that crosses the end of a kept connection is sent again on a new one, once") {
  const Fixture fixture;
  std::atomic<int> asked = 0;
  std::atomic<int> silent = 2;
  TlsServer server(fixture.identity(),
                   [&](const std::string& request) {
                     const int number = ++asked;
                     return number == silent ? std::string() : echo(request);
                   },
                   {true, false, true});
  const auto client = fixture.client();
  CHECK(client->send(get(server.url("/"))).ok());
  HttpRequest request = get(server.url("/work"));
  request.method = "POST";
  request.body = "what it did";
  const auto reply = client->send(request);
  if (!reply.ok()) FAIL(reply.error().message);
  CHECK(reply->body.ends_with("what it did"));
  CHECK(asked == 3);
  CHECK(server.connections() == 2);
  silent = 4;
  const auto fresh = fixture.client();  // whose server says nothing has more amiss
  CHECK_FALSE(fresh->send(request).ok());
  CHECK(asked == 4);
}

TEST_CASE("what is wrong with the connection is told apart") {
  const Fixture fixture;
  const auto client = fixture.client();
  int free_port = 0;
  {
    TlsServer gone(fixture.identity(), echo);
    free_port = gone.port();
  }
  says(failure_of(*client, get("https://127.0.0.1:" + std::to_string(free_port) + "/"),
                  ErrorKind::unavailable),
       "its server is down");

  TlsServer silent(fixture.identity(), [](const std::string&) { return ""; });
  HttpRequest hasty = get(silent.url("/"));
  hasty.timeout = 300ms;
  says(failure_of(*client, hasty, ErrorKind::unavailable), "did not answer within 300 ms");

  TlsServer plain(fixture.identity(), [](const std::string&) { return reply_with("hello"); }, {false, false});
  says(failure_of(*client, get(plain.url("/")), ErrorKind::unavailable), "does this port speak HTTPS");

  TlsServer cut(
      fixture.identity(),
      [](const std::string&) { return std::string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"); },
      {true, true});
  says(failure_of(*client, get(cut.url("/")), ErrorKind::unavailable), "was lost");

  for (const char* proxy : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) ::unsetenv(proxy);
  says(failure_of(*client, get("https://no-such-host.invalid/"), ErrorKind::unavailable),
       "no address is known");
}

TEST_CASE("a stall ends a request, its length does not; what came until then is taken") {
  const Fixture fixture;
  const auto client = fixture.client();
  const std::string body(10'000, 'x');
  HttpRequest request;
  request.timeout = 1500ms;
  std::size_t taken = 0;
  int status = 0;
  request.take = [&](int told, std::string_view bytes) -> Status {
    status = told;
    taken += bytes.size();
    return {};
  };
  SECTION("slow, and living") {
    TlsServer slow(fixture.identity(), [&](const std::string&) { return reply_with(body); },
                   {true, false, false, 250ms});
    request.url = slow.url("/");
    const auto begun = std::chrono::steady_clock::now();
    const auto reply = client->send(request);
    if (!reply.ok()) FAIL(reply.error().message);
    CHECK(std::chrono::steady_clock::now() - begun > request.timeout);
    CHECK(reply->body.empty());
    CHECK(reply->taken == 10'000);
    CHECK(status == 200);
  }
  SECTION("silent in the middle") {
    TlsServer silent(fixture.identity(), [](const std::string&) {
      return "HTTP/1.1 206 Partial Content\r\nContent-Length: 100\r\n\r\n" + std::string(60, 'x');
    });
    request.url = silent.url("/");
    says(failure_of(*client, request, ErrorKind::unavailable), "fell silent: nothing came for 1500 ms");
    CHECK(taken == 60);
    CHECK(status == 206);
  }
  SECTION("bytes that drip without end") {
    TlsServer dripping(fixture.identity(),
                       [&](const std::string&) { return reply_with(std::string(90, 'x')); },
                       {true, false, false, 1200ms});
    request.url = dripping.url("/");
    says(failure_of(*client, request, ErrorKind::unavailable), "fell silent");
  }
  SECTION("somebody who cannot take it") {
    TlsServer server(fixture.identity(), [&](const std::string&) { return reply_with(body); });
    request.url = server.url("/");
    request.take = [](int, std::string_view) -> Status { return Error{ErrorKind::io, "the disk is full"}; };
    CHECK(failure_of(*client, request, ErrorKind::io) == "the disk is full");
  }
  SECTION("an error is no body to take") {
    TlsServer server(fixture.identity(), [&](const std::string&) {
      return std::string("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone");
    });
    request.url = server.url("/");
    const auto reply = client->send(request);
    if (!reply.ok()) FAIL(reply.error().message);
    CHECK(reply->body == "none");
    CHECK(taken == 0);
  }
  SECTION("more than was asked for") {
    TlsServer server(fixture.identity(), [&](const std::string&) { return reply_with(body); });
    request.url = server.url("/");
    request.reply_bytes_max = 9'999;
    says(failure_of(*client, request, ErrorKind::too_large), "more than is allowed");
  }
}

TEST_CASE("a server that goes away while it is spoken to may be restarting") {
  const Fixture fixture;
  const auto client = fixture.client();
  // Resets what connects: before the handshake, or in it.
  for (const bool listens : {false, true}) {
    Descriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    REQUIRE(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0);
    REQUIRE(::listen(listener.get(), 8) == 0);
    REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
    ssize_t heard = 1;
    std::thread server([&] {
      const Descriptor connection(::accept(listener.get(), nullptr, nullptr));
      char byte = 0;
      if (listens) heard = ::recv(connection.get(), &byte, 1, 0);
      const linger at_once{1, 0};
      ::setsockopt(connection.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    });
    const std::string where = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    const std::string said = failure_of(*client, get("https://" + where + "/"), ErrorKind::unavailable);
    server.join();
    CHECK(heard == 1);
    CHECK(said == where + " closed the connection: it may be restarting");
  }
  TlsServer silent(fixture.identity(), [](const std::string&) { return ""; }, {true, false, true});
  says(failure_of(*client, get(silent.url("/")), ErrorKind::unavailable), "it may be restarting");
}

TEST_CASE("a piece of an upload goes out once, also on a kept connection that dies") {
  const Fixture fixture;
  const auto client = fixture.client();
  std::atomic<int> pieces{0};
  TlsServer server(fixture.identity(),
                   [&pieces](const std::string& request) {
                     if (request.starts_with("GET")) return reply_with("0");
                     CHECK(request.ends_with(std::string(100'000, 'x')));
                     return std::string(++pieces == 2 ? "" : reply_with("all"));
                   },
                   {true, false, true});
  HttpRequest piece = get(server.url("/"));
  piece.method = "PATCH";
  piece.body = std::string(100'000, 'x');
  REQUIRE(client->send(get(server.url("/"))).ok());
  REQUIRE(client->send(piece).ok());
  CHECK(server.connections() == 1);
  says(failure_of(*client, piece, ErrorKind::unavailable), "closed the connection");
  CHECK(pieces == 2);
  CHECK(server.connections() == 2);  // libcurl made one for the body, and then could not rewind that
  CHECK(client->send(piece).ok());
  CHECK(pieces == 3);
}

TEST_CASE("what a proxy wants is said, and what it is told is not") {
  const Fixture fixture;
  std::atomic<const char*> status = "407 Proxy Authentication Required";
  TlsServer proxy(
      fixture.identity(),
      [&](const std::string&) { return "HTTP/1.1 " + std::string(status) + "\r\nContent-Length: 0\r\n\r\n"; },
      {false, true});
  const std::string place = "127.0.0.1:" + std::to_string(proxy.port());
  const auto answer = [&](const std::string& setting) {
    ::setenv("https_proxy", setting.c_str(), 1);
    const auto said = failure_of(*fixture.client(), get("https://grid.invalid/"), ErrorKind::unavailable);
    ::unsetenv("https_proxy");
    return said;
  };
  CHECK(answer("http://" + place) ==
        "the proxy " + place + " wants a name and password: set https_proxy=http://NAME:PASSWORD@" + place);
  CHECK(answer("http://ann:secret@" + place) ==
        "the proxy " + place + " refuses the name and password in https_proxy");
  status = "403 Forbidden";
  CHECK(answer(place) ==
        "the proxy " + place +
            " does not let this computer connect to grid.invalid:443 (it answered 403): ask whoever "
            "runs the proxy");
}

TEST_CASE("what is not a request is not sent") {
  const Fixture fixture;
  const auto client = fixture.client();
  for (const char* url :
       {"http://127.0.0.1/", "file:///etc/passwd", "127.0.0.1", "", "https://", "https://a b/"})
    failure_of(*client, get(url), ErrorKind::invalid);
  HttpRequest request = get("https://127.0.0.1:1/");
  request.headers = {{"X", "a\r\nHost: evil"}};
  says(failure_of(*client, request, ErrorKind::invalid), "header");
  request.headers = {{"X\r\nY", "a"}};
  failure_of(*client, request, ErrorKind::invalid);
  request.headers = {{"", "a"}};
  failure_of(*client, request, ErrorKind::invalid);
}

TEST_CASE("how near an address is") {
  for (const char* here :
       {"127.0.0.1", "127.9.9.9", "0.0.0.0", "169.254.169.254", "224.0.0.1", "255.255.255.255", "::1",
        "::", "fe80::1", "ff02::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "nonsense", ""}) {
    INFO(here);
    CHECK(reach_of(std::string(here), {}) == Reach::computer);
  }
  for (const char* own : {"10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1",
                          "100.127.0.1", "fd00::1", "fc00::1", "::ffff:10.0.0.1", "2002:c0a8:101::1"}) {
    INFO(own);
    CHECK(reach_of(std::string(own), {}) == Reach::network);
  }
  for (const char* world :
       {"192.0.2.1", "8.8.8.8", "172.32.0.1", "172.15.0.1", "100.128.0.1", "2001:db8::1", "2a00::1"}) {
    INFO(world);
    CHECK(reach_of(std::string(world), {}) == Reach::world);
  }
}

TEST_CASE("addresses of this computer and of its networks are not the world's") {
  const auto at = [](std::array<std::uint8_t, 16> bytes, int bits) { return Interface{bytes, bits}; };
  const std::vector<Interface> own = {
      at({0x20, 0x01, 0x0d, 0xb8, 0, 7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 5}, 64),        // 2001:db8:7:100::5/64
      at({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 51, 100, 130}, 96 + 25),  // 198.51.100.130/25
      at({0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 64)};
  const auto reach = [&](const char* address) { return reach_of(std::string(address), own); };
  CHECK(reach("2001:db8:7:100::5") == Reach::computer);
  CHECK(reach("2001:db8:7:100::6") == Reach::network);
  CHECK(reach("2001:db8:7:200::6") == Reach::network);  // another network of the site
  CHECK(reach("2001:db8:8:100::5") == Reach::world);
  CHECK(reach("198.51.100.130") == Reach::computer);
  CHECK(reach("::ffff:198.51.100.130") == Reach::computer);
  CHECK(reach("198.51.100.200") == Reach::network);
  CHECK(reach("198.51.100.5") == Reach::world);
  CHECK(reach("192.168.7.7") == Reach::network);
  CHECK(reach("fe80::1") == Reach::computer);
}

TEST_CASE("this computer's own addresses are known with their networks") {
  const auto all = interfaces();
  const Interface loopback{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}, 96 + 8};
  CHECK(std::any_of(all.begin(), all.end(), [&](const Interface& one) {
    return one.address == loopback.address && one.network_bits == loopback.network_bits;
  }));
}

TEST_CASE("a stranger's address is told nothing, and is spoken to only as far away as is allowed") {
  const Fixture fixture;
  const auto root = fixture.identity();
  TlsServer plain(root, echo, {.tls = false});
  const std::string there = "http://127.0.0.1:" + std::to_string(plain.port()) + "/blob?signature=1";
  const auto client = make_stranger_client();
  const auto reply = client->send(get(there));
  if (!reply.ok()) FAIL(reply.error().message);
  CHECK(reply->reach == Reach::computer);
  CHECK(reply->body == "GET /blob?signature=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(plain.port()) +
                           "\r\nAccept: */*\r\n\r\n");
  for (const Reach nearest : {Reach::network, Reach::world}) {
    const auto fresh = make_stranger_client();
    HttpRequest request = get(there);
    request.nearest = nearest;
    says(failure_of(*fresh, request, ErrorKind::untrusted), "nearer to this computer");
  }
  CHECK(plain.connections() == 1);
  for (const char* other : {"http://192.0.2.1/", "file:///etc/passwd", "ftp://127.0.0.1/",
                            "http://127.0.0.1@192.0.2.1/", "http://localhost.example.org/"}) {
    INFO(other);
    says(failure_of(*client, get(other), ErrorKind::invalid), "");
  }
  // The project's own root is no authority for it.
  TlsServer server(root, echo);
  says(failure_of(*client, get(server.url("/")), ErrorKind::untrusted),
       "certificate authorities do not vouch");
}

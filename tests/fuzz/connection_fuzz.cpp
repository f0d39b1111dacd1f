// A real connection to the real HTTPS server: the first two bytes say in what pieces the rest is sent. What
// the server answers must be what its parser alone makes of the same bytes: as many answers, in that order,
// with those statuses, and nothing else on the wire.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "server/http/server.h"
#include "server/http/server_parser.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/tls_identity.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

constexpr std::int64_t body_bytes_max = 200;

struct Expected {
  std::vector<std::string> methods;  // of the requests that are answered by the handler
  int refusal = 0;                   // what follows them; 0: nothing
  bool refusal_certain = false;      // however the bytes come
};

Expected expected_of(std::string bytes) {
  Expected expected;
  while (!bytes.empty()) {
    const bool has_header = bytes.find("\r\n\r\n") != std::string::npos;
    http::RequestParser parser;
    for (bool done = false; !done;) {
      switch (parser.feed(bytes)) {
        case http::RequestParser::Step::need_more:
          return expected;
        case http::RequestParser::Step::head:
          parser.limit_body(body_bytes_max);
          done = parser.complete();
          break;
        case http::RequestParser::Step::complete:
          done = true;
          break;
        case http::RequestParser::Step::refused:
          expected.refusal = parser.refusal().status;
          expected.refusal_certain = has_header;
          return expected;
      }
    }
    expected.methods.push_back(parser.request().method);
    if (!parser.keeps_alive()) return expected;
  }
  return expected;
}

class Serving {
 public:
  Serving() {
    ::signal(SIGPIPE, SIG_IGN);
    const auto root = crypto::PrivateKey::generate();
    const Timestamp now = system_clock().now();
    const auto identity = crypto::make_tls_identity(root, {"127.0.0.1"}, now, now + std::chrono::hours{24});
    http::ServerOptions options;
    options.address = "127.0.0.1";
    options.port = 0;
    options.threads = 1;
    options.certificate_chain_pem = identity.certificate_chain_pem;
    options.private_key_pem = identity.private_key_pem;
    options.body_bytes_max = [](const http::Request&) { return body_bytes_max; };
    options.log = [](const std::string&) {};
    auto server = http::Server::start(std::move(options), [](http::Request request, http::Reply reply) {
      http::Response response;
      response.body = request.path.substr(0, 100);
      reply(std::move(response));
    });
    CHECK_TRUE(server.ok());
    server_ = std::move(*server);
    context_ = SSL_CTX_new(TLS_client_method());
  }

  // All that it answers to these bytes, sent in pieces, and to their end.
  std::string talk(std::string_view bytes, std::size_t piece) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(server_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_TRUE(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    SSL* ssl = SSL_new(context_);
    SSL_set_fd(ssl, socket);
    CHECK_TRUE(SSL_connect(ssl) == 1);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const std::string_view part = bytes.substr(at, piece);
      if (SSL_write(ssl, part.data(), static_cast<int>(part.size())) <= 0) break;
    }
    (void)SSL_shutdown(ssl);
    ::shutdown(socket, SHUT_WR);
    std::string said;
    char buffer[4096];
    for (int got = 0; (got = SSL_read(ssl, buffer, sizeof buffer)) > 0;)
      said.append(buffer, static_cast<std::size_t>(got));
    SSL_free(ssl);
    ::close(socket);
    return said;
  }

 private:
  std::unique_ptr<http::Server> server_;
  SSL_CTX* context_ = nullptr;
};

// Takes an answer from the front; its status.
int take_answer(std::string& said, bool head_only) {
  const auto end = said.find("\r\n\r\n");
  CHECK_TRUE(said.starts_with("HTTP/1.1 ") && end != std::string::npos);
  const int status = std::stoi(said.substr(9, 3));
  const auto length_at = said.find("Content-Length: ");
  std::size_t length = 0;
  if (length_at < end) length = std::stoul(said.substr(length_at + 16, 20));
  if (head_only || status == 100) length = 0;
  CHECK_TRUE(said.size() >= end + 4 + length);
  said.erase(0, end + 4 + length);
  return status;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Serving serving;
  if (size < 2) return 0;
  const std::string_view bytes = fuzz::text_of(data + 2, size - 2);
  const Expected expected = expected_of(std::string(bytes));
  std::string said = serving.talk(bytes, 1 + (data[0] | static_cast<unsigned>(data[1]) << 8) % 1024);
  for (const std::string& method : expected.methods) {
    int status = take_answer(said, method == "HEAD");
    while (status == 100) status = take_answer(said, method == "HEAD");
    CHECK_TRUE(status == 200);
  }
  while (said.starts_with("HTTP/1.1 100")) CHECK_TRUE(take_answer(said, false) == 100);
  // Of a header that does not end, its parts may be less than the parser has to see.
  if (expected.refusal != 0 && (expected.refusal_certain || !said.empty()))
    CHECK_TRUE(take_answer(said, false) == expected.refusal);
  CHECK_TRUE(said.empty() || said.starts_with("HTTP/1.1 4"));  // the end came within a request
  return 0;
}

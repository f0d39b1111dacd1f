#include "server/link/stream.h"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <string_view>
#include <utility>

namespace gleaner::link {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;

constexpr int silent_milliseconds_max = 4000;  // bytes that nobody acknowledges

class PlainStream final : public Stream {
 public:
  explicit PlainStream(Socket socket) : socket_(std::move(socket)) {}
  void shake_hands(Side, std::function<void(const ErrorCode&)> done) override {
    asio::post(socket_.get_executor(), [done = std::move(done)] { done({}); });
  }
  void read_some(char* to, std::size_t bytes, Done done) override {
    socket_.async_read_some(asio::buffer(to, bytes), std::move(done));
  }
  void write(std::string_view bytes, Done done) override {
    asio::async_write(socket_, asio::buffer(bytes), std::move(done));
  }
  void close() override {
    ErrorCode ignored;
    socket_.close(ignored);
  }

 private:
  Socket socket_;
};

class TlsStream final : public Stream {
 public:
  TlsStream(Socket socket, std::shared_ptr<ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}
  void shake_hands(Side side, std::function<void(const ErrorCode&)> done) override {
    stream_.async_handshake(side == Side::server ? ssl::stream_base::server : ssl::stream_base::client,
                            std::move(done));
  }
  void read_some(char* to, std::size_t bytes, Done done) override {
    stream_.async_read_some(asio::buffer(to, bytes), std::move(done));
  }
  void write(std::string_view bytes, Done done) override {
    asio::async_write(stream_, asio::buffer(bytes), std::move(done));
  }
  void close() override {
    ErrorCode ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  const std::shared_ptr<ssl::context> context_;
  ssl::stream<Socket> stream_;
};

// In the place of a chain's verification: the peer shows the certificate that this side has, and no other.
int is_our_own(X509_STORE_CTX* store, void* context) {
  const X509* const shown = X509_STORE_CTX_get0_cert(store);
  const X509* const ours = SSL_CTX_get0_certificate(static_cast<SSL_CTX*>(context));
  const bool same = shown != nullptr && ours != nullptr && X509_cmp(shown, ours) == 0;
  X509_STORE_CTX_set_error(store, same ? X509_V_OK : X509_V_ERR_CERT_UNTRUSTED);
  return same ? 1 : 0;
}

}  // namespace

Result<std::shared_ptr<ssl::context>> tls_context(const Identity& identity) {
  if (identity.empty()) return std::shared_ptr<ssl::context>();
  auto context = std::make_shared<ssl::context>(ssl::context::tls);
  SSL_CTX* const native = context->native_handle();
  ErrorCode wrong;
  context->use_certificate_chain(asio::buffer(identity), wrong);
  if (!wrong) context->use_private_key(asio::buffer(identity), ssl::context::pem, wrong);
  const bool set = !wrong && SSL_CTX_check_private_key(native) == 1 &&
                   SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION) == 1 &&
                   SSL_CTX_set_num_tickets(native, 0) == 1;
  ERR_clear_error();
  if (!set)
    return Error{
        ErrorKind::invalid,
        "link.pem is no certificate with its key: copy the file from another of the project's servers"};
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(native, is_our_own, native);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  return context;
}

std::unique_ptr<Stream> make_stream(Socket socket, std::shared_ptr<ssl::context> context) {
  if (!context) return std::make_unique<PlainStream>(std::move(socket));
  return std::make_unique<TlsStream>(std::move(socket), std::move(context));
}

void tune(Socket& socket) {
  const int on = 1, milliseconds = silent_milliseconds_max;
  const int descriptor = socket.native_handle();
  (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

}  // namespace gleaner::link

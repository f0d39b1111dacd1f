#include "tests/unit/io/tls_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shared/base/check.h"

namespace gleaner::testing {
namespace {

std::shared_ptr<void> make_context(const crypto::TlsIdentity& identity) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  const auto memory = [](const std::string& text) {
    return std::shared_ptr<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  };
  const auto chain = memory(identity.certificate_chain_pem);
  X509* leaf = PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr);
  CHECK_TRUE(SSL_CTX_use_certificate(context, leaf) == 1);
  X509_free(leaf);
  while (X509* other = PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr))
    CHECK_TRUE(SSL_CTX_add_extra_chain_cert(context, other) == 1);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(memory(identity.private_key_pem).get(), nullptr, nullptr, nullptr);
  CHECK_TRUE(SSL_CTX_use_PrivateKey(context, key) == 1);
  EVP_PKEY_free(key);
  return {context, [](void* owned) { SSL_CTX_free(static_cast<SSL_CTX*>(owned)); }};
}

// Is the request whole? Then its length.
std::size_t whole_request(const std::string& bytes) {
  const auto end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return 0;
  std::size_t body = 0;
  if (const auto at = bytes.find("Content-Length: "); at < end) body = std::stoul(bytes.substr(at + 16));
  return bytes.size() >= end + 4 + body ? end + 4 + body : 0;
}

}  // namespace

TlsServer::TlsServer(const crypto::TlsIdentity& identity, Handler handler, TlsServerOptions options)
    : handler_(std::move(handler)), options_(options), context_(make_context(identity)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  CHECK_TRUE(::bind(listener_, generic, size) == 0 && ::listen(listener_, 16) == 0);
  CHECK_TRUE(::getsockname(listener_, generic, &size) == 0);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

TlsServer::~TlsServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  for (auto& thread : threads_) thread.join();
  for (const int socket : sockets_) ::close(socket);
  ::close(listener_);
}

std::string TlsServer::url(const std::string& path, const std::string& host) const {
  return "https://" + host + ":" + std::to_string(port_) + path;
}

void TlsServer::accept_all() {
  while (true) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    ++connections_;
    const std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { serve(socket); });
  }
}

void TlsServer::serve(int socket) {
  sigset_t pipe_signal;  // a client that went away is not the test's end
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);

  const std::shared_ptr<SSL> ssl(SSL_new(static_cast<SSL_CTX*>(context_.get())), SSL_free);
  SSL_set_fd(ssl.get(), socket);
  if (options_.tls && SSL_accept(ssl.get()) != 1) return;
  const auto read = [&](char* data, int size) {
    return options_.tls ? SSL_read(ssl.get(), data, size)
                        : static_cast<int>(::read(socket, data, static_cast<std::size_t>(size)));
  };
  const auto write = [&](const std::string& bytes) {
    return options_.tls ? SSL_write(ssl.get(), bytes.data(), static_cast<int>(bytes.size()))
                        : static_cast<int>(::write(socket, bytes.data(), bytes.size()));
  };
  std::string bytes;
  char piece[16384];
  while (true) {
    const int got = read(piece, sizeof piece);
    if (got <= 0) break;
    bytes.append(piece, static_cast<std::size_t>(got));
    const std::size_t length = options_.tls ? whole_request(bytes) : bytes.size();
    if (length == 0) continue;
    const std::string reply = handler_(bytes.substr(0, length));
    bytes.erase(0, length);
    const std::size_t part = options_.between_parts.count() > 0 ? reply.size() / 10 + 1 : reply.size();
    bool written = true;
    for (std::size_t at = 0; written && at < reply.size(); at += part) {
      if (at > 0) std::this_thread::sleep_for(options_.between_parts);
      written = write(reply.substr(at, part)) > 0;
    }
    if (!written) break;
    if (reply.empty() ? options_.close_on_silence : options_.close_after_each_reply) break;
  }
  if (options_.tls) SSL_shutdown(ssl.get());
  ::shutdown(socket, SHUT_RDWR);
}

std::string reply_with(const std::string& body, const std::string& more_headers) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more_headers +
         "\r\n" + body;
}

}  // namespace gleaner::testing

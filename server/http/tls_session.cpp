#include "server/http/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <new>

#include "shared/base/check.h"

namespace gleaner::http {
namespace {

// OpenSSL's own socket BIO calls write(), which raises SIGPIPE; this one sends with MSG_NOSIGNAL.

int descriptor_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool retriable(int error_number) {
  return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR;
}

int bio_write(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(descriptor_of(bio), bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL);
  if (sent < 0 && retriable(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int bio_read(BIO* bio, char* to, int count) {
  BIO_clear_retry_flags(bio);
  const auto received = ::recv(descriptor_of(bio), to, static_cast<std::size_t>(count), 0);
  if (received < 0 && retriable(errno)) BIO_set_retry_read(bio);
  if (received == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(received);
}

long bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return 0;
}

BIO_METHOD* make_socket_method() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "gleaner socket");
  CHECK_TRUE(method != nullptr);
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_ctrl(method, bio_control);
  return method;
}

BIO* make_socket_bio(int descriptor) {
  static BIO_METHOD* const method = make_socket_method();  // lives as long as the process
  BIO* bio = BIO_new(method);
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)));
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace

void TlsSession::Free::operator()(ssl_st* session) const {
  SSL_free(session);
}

TlsSession::TlsSession(const TlsContext& context, int descriptor) : session_(SSL_new(context.get())) {
  if (!session_) throw std::bad_alloc();
  BIO* bio = make_socket_bio(descriptor);
  SSL_set_bio(session_.get(), bio, bio);  // owns it
  SSL_set_accept_state(session_.get());
}

TlsSession::Outcome TlsSession::outcome_of(int result) {
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_NONE:
      return Outcome::done;
    case SSL_ERROR_WANT_READ:
      return Outcome::want_read;
    case SSL_ERROR_WANT_WRITE:
      return Outcome::want_write;
    case SSL_ERROR_ZERO_RETURN:
      return Outcome::closed;
    default:  // protocol errors, lost connections, and states that are not asked for here
      broken_ = true;
      ERR_clear_error();
      return Outcome::failed;
  }
}

TlsSession::Outcome TlsSession::shake_hands() {
  if (broken_) return Outcome::failed;
  ERR_clear_error();  // SSL_get_error looks at the thread's queue
  return outcome_of(SSL_do_handshake(session_.get()));
}

TlsSession::Transfer TlsSession::read(char* to, std::size_t bytes_max) {
  if (broken_) return {};
  ERR_clear_error();
  std::size_t bytes = 0;
  const int result = SSL_read_ex(session_.get(), to, bytes_max, &bytes);
  return {outcome_of(result), result == 1 ? bytes : 0};
}

TlsSession::Transfer TlsSession::write(std::string_view bytes) {
  CHECK_TRUE(!bytes.empty());
  if (broken_) return {};
  ERR_clear_error();
  std::size_t written = 0;
  const int result = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &written);
  return {outcome_of(result), result == 1 ? written : 0};
}

void TlsSession::say_goodbye() {
  if (broken_ || SSL_is_init_finished(session_.get()) == 0) return;
  ERR_clear_error();
  SSL_shutdown(session_.get());  // one way only: the peer's own good-bye is not waited for
  ERR_clear_error();
}

}  // namespace gleaner::http

#include "tests/unit/http/peer.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <ctime>
#include <random>

#include "tests/catch.h"

namespace gleaner::http::testing {
namespace {

// The client's writes may raise SIGPIPE; the server's must not, so it stays armed outside of them.
class PipeSignalBlock {
 public:
  PipeSignalBlock() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~PipeSignalBlock() {
    const timespec now{};
    while (sigtimedwait(&set_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

}  // namespace

Identity make_identity() {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 24 * 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1,
                             0);
  X509_set_issuer_name(certificate, name);
  X509_sign(certificate, key, EVP_sha256());
  BIO* certificate_text = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(certificate_text, certificate);
  BIO* key_text = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(key_text, key, nullptr, nullptr, 0, nullptr, nullptr);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return {text_of(certificate_text), text_of(key_text)};
}

const Identity& test_identity() {
  static const Identity identity = make_identity();
  return identity;
}

int connect_to(int port, const std::string& address, int receive_buffer_bytes, const std::string& from) {
  const bool v6 = address.find(':') != std::string::npos;
  const int descriptor = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  if (receive_buffer_bytes > 0) {
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  }
  const timeval patience{20, 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in to4{};
  sockaddr_in6 to6{};
  to4.sin_family = AF_INET;
  to4.sin_port = to6.sin6_port = htons(static_cast<std::uint16_t>(port));
  to6.sin6_family = AF_INET6;
  ::inet_pton(v6 ? AF_INET6 : AF_INET, address.c_str(),
              v6 ? static_cast<void*>(&to6.sin6_addr) : &to4.sin_addr);
  if (!from.empty()) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    ::inet_pton(AF_INET, from.c_str(), &own.sin_addr);
    if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
      ::close(descriptor);
      return -1;
    }
  }
  const auto* to = v6 ? reinterpret_cast<const sockaddr*>(&to6) : reinterpret_cast<const sockaddr*>(&to4);
  if (::connect(descriptor, to, v6 ? sizeof to6 : sizeof to4) == 0) return descriptor;
  ::close(descriptor);
  return -1;
}

Peer::Peer(int port, const PeerOptions& options) {
  const PipeSignalBlock block;
  socket_ = connect_to(port, options.address, options.receive_buffer_bytes, options.from);
  if (socket_ < 0) return;
  context_ = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_security_level(context_, 0);  // so that old versions can be tried at all
  SSL_CTX_set_min_proto_version(context_, TLS1_VERSION);
  SSL_CTX_set_max_proto_version(context_, options.newest_version);
  ssl_ = SSL_new(context_);
  SSL_set_fd(ssl_, socket_);
  if (options.session != nullptr) SSL_set_session(ssl_, options.session);
  connected_ = SSL_connect(ssl_) == 1;
  ERR_clear_error();
}

Peer::~Peer() {
  const PipeSignalBlock block;
  if (connected_) SSL_shutdown(ssl_);
  ERR_clear_error();
  if (ssl_ != nullptr) SSL_free(ssl_);
  if (context_ != nullptr) SSL_CTX_free(context_);
  if (socket_ >= 0) ::close(socket_);
}

bool Peer::send(std::string_view bytes) {
  if (!connected_) return false;
  const PipeSignalBlock block;
  ERR_clear_error();
  return bytes.empty() || SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) > 0;
}

std::string Peer::read(std::size_t bytes_max) {
  if (!connected_) return {};
  const PipeSignalBlock block;  // reading may answer a key update
  ERR_clear_error();
  std::string bytes(bytes_max, '\0');
  const int got = SSL_read(ssl_, bytes.data(), static_cast<int>(bytes.size()));
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

std::optional<Answer> Peer::receive(bool head_only) {
  const auto more = [&] {
    const std::string bytes = read();
    input_ += bytes;
    return !bytes.empty();
  };
  std::size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return std::nullopt;
  }
  Answer answer;
  answer.head = input_.substr(0, end + 2);
  input_.erase(0, end + 4);
  answer.status = std::stoi(answer.head.substr(9, 3));
  for (std::size_t at = answer.head.find("\r\n") + 2; at < answer.head.size();) {
    const std::size_t line_end = answer.head.find("\r\n", at);
    const std::size_t colon = answer.head.find(": ", at);
    std::string name = answer.head.substr(at, colon - at);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    answer.headers[name] = answer.head.substr(colon + 2, line_end - colon - 2);
    at = line_end + 2;
  }
  const auto length = answer.headers.find("content-length");
  const std::size_t bytes = length == answer.headers.end() || head_only ? 0 : std::stoul(length->second);
  while (input_.size() < bytes) {
    if (!more()) return std::nullopt;
  }
  answer.body = input_.substr(0, bytes);
  input_.erase(0, bytes);
  return answer;
}

bool Peer::wait_closed() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{15};
  while (!read().empty()) {
  }
  return std::chrono::steady_clock::now() < until;
}

bool Peer::closed_within(int milliseconds) {
  pollfd watched{socket_, POLLRDHUP, 0};
  ::poll(&watched, 1, milliseconds);
  return (watched.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void Peer::say_goodbye() {
  const PipeSignalBlock block;
  SSL_shutdown(ssl_);
  ERR_clear_error();
  ::shutdown(socket_, SHUT_WR);
}

void Peer::reset() {
  const linger at_once{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(socket_);
  socket_ = -1;
  SSL_set_quiet_shutdown(ssl_, 1);
  connected_ = false;
}

std::string get(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nHost: test\r\n\r\n";
}

std::string post(const std::string& target, const std::string& body) {
  return "POST " + target + " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

void Log::add(const std::string& line) {
  const std::lock_guard lock(mutex_);
  lines_.push_back(line);
  added_.notify_all();
}

std::size_t Log::count(const std::string& part) {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(
      lines_.begin(), lines_.end(), [&](const auto& line) { return line.find(part) != std::string::npos; }));
}

bool Log::wait_for(const std::string& part) {
  std::unique_lock lock(mutex_);
  return added_.wait_for(lock, std::chrono::seconds{15}, [&] {
    return std::any_of(lines_.begin(), lines_.end(),
                       [&](const auto& line) { return line.find(part) != std::string::npos; });
  });
}

ServerOptions test_options(const std::shared_ptr<Log>& log) {
  ServerOptions options;
  options.address = "127.0.0.1";
  options.port = 0;
  options.certificate_chain_pem = test_identity().certificate_pem;
  options.private_key_pem = test_identity().key_pem;
  options.body_bytes_max = [](const Request& head) { return head.path == "/none" ? 0 : 1 << 20; };
  options.log = [log](const std::string& line) { log->add(line); };
  return options;
}

Response echo(const Request& request) {
  Response response;
  response.headers["X-Path"] = request.path;
  response.headers["X-Method"] = request.method;
  response.body = request.body;
  return response;
}

Handler echo_handler() {
  return [](Request request, const Reply& reply) { reply(echo(request)); };
}

std::unique_ptr<Server> start(ServerOptions options, Handler handler) {
  auto server = Server::start(std::move(options), std::move(handler));
  INFO((server.ok() ? "" : server.error().message));
  REQUIRE(server.ok());
  return std::move(server).value();
}

TemporaryDirectory::TemporaryDirectory()
    : path(std::filesystem::temp_directory_path() /
           ("gleaner-http-" + std::to_string(::getpid()) + "-" + std::to_string(std::random_device{}()))) {
  std::filesystem::create_directories(path);
}
TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

}  // namespace gleaner::http::testing

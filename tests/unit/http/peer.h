// A plain blocking TLS client and what else the tests of the HTTPS server share. Every wait ends after 20 s.
#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/server.h"

namespace gleaner::http::testing {

struct Identity {
  std::string certificate_pem;
  std::string key_pem;
};
const Identity& test_identity();  // self-signed P-256, made once
Identity make_identity();

// A connected TCP socket, or -1.
int connect_to(int port, const std::string& address = "127.0.0.1", int receive_buffer_bytes = 0,
               const std::string& from = "");

struct Answer {
  int status = 0;
  std::string head;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

struct PeerOptions {
  std::string address = "127.0.0.1";
  int newest_version = TLS1_3_VERSION;
  int receive_buffer_bytes = 0;
  SSL_SESSION* session = nullptr;
  std::string from = "";  // an IPv4 address of this machine; empty: any
};

class Peer {
 public:
  explicit Peer(int port, const PeerOptions& options = {});
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }
  bool send(std::string_view bytes);
  // The next response; none if the connection ended before its end.
  std::optional<Answer> receive(bool head_only = false);
  std::optional<Answer> ask(std::string_view request) { return send(request) ? receive() : std::nullopt; }
  // Decrypted bytes, up to `bytes_max`; empty at the end.
  std::string read(std::size_t bytes_max = 16 << 10);
  // Reads until the server closes. False if it does not within 20 s.
  bool wait_closed();
  bool closed_within(int milliseconds);  // paces a test without sleeping
  void say_goodbye();                    // close_notify and half-close
  void reset();                          // RST
  SSL* ssl() { return ssl_; }
  [[nodiscard]] int socket() const { return socket_; }

 private:
  int socket_ = -1;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
  bool connected_ = false;
  std::string input_;
};

std::string get(const std::string& target);
std::string post(const std::string& target, const std::string& body);

// What a server wrote to its log.
class Log {
 public:
  void add(const std::string& line);
  [[nodiscard]] bool wait_for(const std::string& part);
  [[nodiscard]] std::size_t count(const std::string& part);

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::string> lines_;
};

// Port 0 on 127.0.0.1, the test identity, bodies up to 1 MiB, lines to `log`.
ServerOptions test_options(const std::shared_ptr<Log>& log = std::make_shared<Log>());
// Answers with method, path and body, or as the path says: "/file" with a part of a file, and so on.
Response echo(const Request& request);
Handler echo_handler();
std::unique_ptr<Server> start(ServerOptions options, Handler handler);

class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path path;
};

}  // namespace gleaner::http::testing

// A small HTTPS server on loopback for tests: real TLS, one thread a connection, each reply made by the test.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "shared/crypto/tls_identity.h"

namespace gleaner::testing {

struct TlsServerOptions {
  bool tls = true;  // false: plain TCP that answers as if nothing were wrong
  bool close_after_each_reply = false;
  bool close_on_silence = false;  // where the handler has no reply
  // A reply goes out in ten parts with this before each but the first; nothing: at once.
  std::chrono::milliseconds between_parts{0};
};

class TlsServer {
 public:
  // Gets the whole request (head and body) and returns the whole reply; empty: say nothing and wait for the
  // end.
  using Handler = std::function<std::string(const std::string& request)>;

  TlsServer(const crypto::TlsIdentity& identity, Handler handler, TlsServerOptions options = {});
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url(const std::string& path, const std::string& host = "127.0.0.1") const;
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void accept_all();
  void serve(int socket);

  const Handler handler_;
  const TlsServerOptions options_;
  std::shared_ptr<void> context_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::mutex mutex_;  // of the two lists
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// "HTTP/1.1 200 OK" with the length of the body.
[[nodiscard]] std::string reply_with(const std::string& body, const std::string& more_headers = "");

}  // namespace gleaner::testing

// A server that waits until the one that leads its project is gone.
#pragma once

#include <memory>

#include "server/http/server.h"

namespace gleaner::server {

// From the first wait() until its end it listens in the server's place, and answers /healthz, and to
// everything else that another server is to be asked (503): so that a balancer sends nobody here. One thread.
class Standby {
 public:
  explicit Standby(const http::ServerOptions& options) : options_(options) {}
  // false: a signal says that the server is to end. REQUIRES: SIGTERM and SIGINT are blocked.
  [[nodiscard]] bool wait();
  void end();
  [[nodiscard]] bool was_told_to_end() const { return told_to_end_; }

 private:
  http::ServerOptions options_;
  std::unique_ptr<http::Server> server_;
  bool waits_ = false, told_to_end_ = false;
};

}  // namespace gleaner::server

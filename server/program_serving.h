// What the programs that serve HTTPS (run and front of the server, the relay) have in common.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "server/http/router.h"
#include "server/http/server.h"
#include "server/service/core/project_directory.h"

namespace gleaner::server {

// How long what was received is worked on when the program is to end.
inline constexpr auto patience = std::chrono::seconds{10};

// Before any thread starts, so that all of them inherit it.
void block_signals();
// As the superuser managers run as users of their own, who have to read what is laid out for them.
void let_managers_read();
// Its directory is closed to others, and so is what the server makes in it. A line of the log if it was not.
void open_privately(const io::Path& directory);
// As the settings have it, with the socket that systemd listens on, if it does; certificate and key are left
// to the caller. Error: io, too, where the process may use too few addresses.
[[nodiscard]] Result<http::ServerOptions> http_options(const service::Configuration& configuration,
                                                       const service::ProjectDirectory& project, int port);
// HTTPS in front of a service, which outlives it.
class Serving {
 public:
  // From this on whoever asks is answered.
  [[nodiscard]] static Result<std::unique_ptr<Serving>> start(service::Service& service,
                                                              http::ServerOptions options,
                                                              http::PublicPage page);
  [[nodiscard]] http::Router& router() { return router_; }
  [[nodiscard]] http::Server& server() { return *server_; }
  // What was received is answered, for at most so long.
  void stop(Duration longest);

 private:
  Serving(service::Service& service, http::PublicPage page,
          std::shared_ptr<const http::ConnectionFigures> figures)
      : router_(service, page, std::move(figures)) {}
  http::Router router_;
  std::unique_ptr<http::Server> server_;
};

// Until the program is to end. A certificate that was renewed is taken (SIGHUP), then `renewed` is called.
void wait_for_signals(http::Server& server, const service::ProjectDirectory& project,
                      const std::function<void()>& renewed);

}  // namespace gleaner::server

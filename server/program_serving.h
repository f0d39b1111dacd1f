// What the two programs that serve HTTPS (run and front) have in common.
#pragma once

#include <chrono>
#include <functional>

#include "server/http/server.h"
#include "server/service/project_directory.h"

namespace gleaner::server {

// How long what was received is worked on when the program is to end.
inline constexpr auto patience = std::chrono::seconds{10};

// Before any thread starts, so that all of them inherit it.
void block_signals();
// As the settings have it, with the socket that systemd listens on, if it does; certificate and key are left
// to the caller.
[[nodiscard]] Result<http::ServerOptions> http_options(const service::Configuration& configuration,
                                                       const service::ProjectDirectory& project, int port);
// Until the program is to end. A certificate that was renewed is taken (SIGHUP), then `renewed` is called.
void wait_for_signals(http::Server& server, const service::ProjectDirectory& project,
                      const std::function<void()>& renewed);

}  // namespace gleaner::server

#include "server/program_standby.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <ctime>

#include "server/http/responses.h"

namespace gleaner::server {
namespace {

void answer(const http::Request& request, const http::Reply& reply) {
  if (request.path != "/healthz")
    return reply(http::error_response(
        {ErrorKind::unavailable, "another server leads this project, and this one stands by: ask again"}));
  http::Response response;
  response.headers["Content-Type"] = "text/plain; charset=utf-8";
  response.headers["Cache-Control"] = "no-store";
  response.body = "standby\n";
  reply(std::move(response));
}

}  // namespace

bool Standby::wait() {
  if (!waits_) {
    waits_ = true;
    // systemd's socket is needed once more when this server leads.
    if (options_.listening >= 0) options_.listening = ::dup(options_.listening);
    options_.figures = std::make_shared<http::ConnectionFigures>();
    auto server = http::Server::start(options_, answer);
    if (server.ok()) {
      server_ = std::move(*server);
      spdlog::info("another server leads this project: standing by on port {}", server_->port());
    } else {
      spdlog::warn("another server leads this project: standing by, and silent: {}", server.error().message);
    }
    sd_notify(0, "READY=1\nSTATUS=standing by: another server leads");
  }
  sigset_t ends;
  sigemptyset(&ends);
  for (const int each : {SIGTERM, SIGINT}) sigaddset(&ends, each);
  const timespec at_once{};
  told_to_end_ = sigtimedwait(&ends, nullptr, &at_once) >= 0;
  return !told_to_end_;
}

void Standby::end() {
  if (!waits_) return;
  server_.reset();
  spdlog::info(told_to_end_ ? "stopped" : "this server is to lead the project now");
  sd_notify(0, told_to_end_ ? "STOPPING=1" : "STATUS=");
}

}  // namespace gleaner::server

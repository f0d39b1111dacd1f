// What a leader answers its front ends: the link's operations into the service's use cases and back. A front
// end is believed what it says of requests that it has read (who sent them, whence) and of results that it
// has checked; whether that somebody may do it is looked at here, each time. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "server/http/router.h"
#include "server/link/listener.h"
#include "server/link/messages.h"
#include "server/service/service.h"

namespace gleaner::backend {

class Backend {
 public:
  // `project`: the id that front ends must be of. All must outlive it.
  Backend(service::Service& service, http::Router& router, std::string project)
      : service_(service), router_(router), project_(std::move(project)) {}
  void handle(link::Kind kind, std::string_view body, const std::shared_ptr<link::Exchange>& exchange);

 private:
  using Exchange = std::shared_ptr<link::Exchange>;
  [[nodiscard]] Status greet(std::string_view body, const Exchange& exchange) const;
  [[nodiscard]] Status who(std::string_view body, const Exchange& exchange);
  [[nodiscard]] Status place(std::string_view body, const Exchange& exchange);
  [[nodiscard]] Status work(std::string_view body, const Exchange& exchange);
  [[nodiscard]] Status heartbeat(std::string_view body, const Exchange& exchange);
  [[nodiscard]] Status failure(std::string_view body, const Exchange& exchange);
  [[nodiscard]] Status leave(std::string_view body, const Exchange& exchange);
  [[nodiscard]] Status pass(std::string_view body, const Exchange& exchange);
  [[nodiscard]] Status blob(std::string_view body, const Exchange& exchange);
  // unauthorized, banned.
  [[nodiscard]] Result<HostId> host_of(const link::Caller& caller);

  service::Service& service_;
  http::Router& router_;
  const std::string project_;
};

}  // namespace gleaner::backend

// HTTP requests into the service's use cases and their answers back: decode, call, encode; no decisions. The
// operations are those of shared/protocol/API.md; the published form is openapi.yaml beside this file.
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/http/events.h"
#include "server/http/server.h"
#include "server/service/service.h"
#include "shared/base/result.h"

namespace gleaner::http {

// Whether who has not logged in sees problems, applications and hosts on the status page.
enum class PublicPage { off, on };

class Router {
 public:
  // `connections`: where the server that asks this counts; null: it is not told of.
  Router(service::Service& service, PublicPage public_page,
         std::shared_ptr<const ConnectionFigures> connections = {})
      : service_(service),
        public_page_(public_page),
        connections_(std::move(connections)),
        events_(service.views()) {}
  void handle(Request request, Reply reply);
  void stop() {
    service_.vitals().begin_stop();
    service_.work().stop_waiting();
    events_.stop();
  }
  // How large a body may be, by its head; large ones are taken of hosts and administrators only.
  [[nodiscard]] std::int64_t body_bytes_max(const Request& head);

 private:
  // A host that has not moved too much already, or an administrator. What is not announced has to be read to
  // be known.
  [[nodiscard]] bool may_send_large(const Request& head, bool announced);
  void route(const Request& request, const Reply& reply);
  // `use` answers by a reply that holds a place until then, perhaps when this has returned; or there is none,
  // and that is the answer.
  template <typename Use>
  void serve(const Request& request, const service::Load::Visitor& who, const Reply& reply, Use use);
  // Why not, to somebody unknown: a stranger's request like any other.
  void refuse(const Request& request, const Error& why, const Reply& reply);
  void addresses(const Request& request, HostId host, const Reply& reply);
  // `rests` gives the request's place back before it is answered.
  void host_operation(const Request& request, HostId host, const Reply& reply,
                      const std::function<void()>& rests);
  void relay_operation(const Request& request, HostId relay, const Reply& reply);
  void stage_operation(const Request& request, HostId relay, const Reply& reply);
  void blob_operation(const Request& request, const Reply& reply);
  void public_operation(const Request& request, const Reply& reply);
  // Who asks, and may; what is refused is counted. unauthorized, forbidden: why not.
  [[nodiscard]] Result<service::Admin> admit(const Request& request, const std::vector<std::string>& pieces);
  // By an admin token, or by a session's cookie, whose changes need its guard.
  [[nodiscard]] Result<service::Admin> authenticate(const Request& request);
  // router_console.cpp
  [[nodiscard]] Result<service::LoggedIn> logged_in(const Request& request);
  void console_file(const Request& request, const Reply& reply) const;
  void console_operation(const Request& request, const Reply& reply);
  void open_session(const Request& request, const Reply& reply);
  [[nodiscard]] Response session_response(const service::LoggedIn& who,
                                          const std::string& instead_of = {}) const;
  // router_operations.cpp
  void metrics(const Request& request, const Reply& reply);
  // router_admin.cpp
  void admin_request(const Request& request, const Reply& reply);
  struct AdminCall;
  void admin_operation(const AdminCall& call);
  void look_operation(const AdminCall& call);
  void application_operation(const AdminCall& call);
  void problem_operation(const AdminCall& call);
  void one_problem(const AdminCall& call, ProblemId id);
  void accepted_items(const AdminCall& call, ProblemId id);
  void table_page(const AdminCall& call);
  void host_admin_operation(const AdminCall& call);
  void code_operation(const AdminCall& call);
  void relay_admin_operation(const AdminCall& call);
  void token_operation(const AdminCall& call);
  void ban_operation(const AdminCall& call);
  void upload(const Request& request, const Reply& reply, std::optional<HostId> host);
  void download(const Request& request, const Reply& reply, const service::Load::Account& account);
  void status_page(const Request& request, const Reply& reply);
  service::Service& service_;
  PublicPage public_page_;
  const std::shared_ptr<const ConnectionFigures> connections_;
  const std::shared_ptr<RequestFigures> requests_ = std::make_shared<RequestFigures>();
  Events events_;
};

// An RFC 9457 problem document; 429 and 503 carry Retry-After.
[[nodiscard]] Response error_response(const Error& error);

}  // namespace gleaner::http

#include "server/service/access/logins.h"

#include <utility>

namespace gleaner::service {
namespace {

// The act that is left before anybody gets a secret.
struct Noted {};

Done<Noted> act_of(const Admin& admin, const char* action, std::function<void(Status)> then) {
  return {
      [then = std::move(then)](Result<Noted> noted) { then(noted.ok() ? Status{} : Status{noted.error()}); },
      Actor{admin.name, protocol::name_of(admin.role), action, admin.name}};
}

Status note(Transaction& /*tx*/, Result<Noted>& noted) {
  noted = Noted{};
  return {};
}

}  // namespace

Status Logins::may_log_in(const Admin& admin) {
  if (acts_.take(admin.name, kernel_.clock().steady())) return {};
  return Error{ErrorKind::unavailable,
               "the admin token " + admin.name +
                   " has logged in more often than a person does: try again in a minute"};
}

void Logins::make_link(const Admin& admin, Done<protocol::ConsoleLink> done) {
  if (const Status room = may_log_in(admin); !room.ok()) return done(room.error());
  kernel_.decide<Noted>(
      note, act_of(admin, "console link", [this, admin, done = std::move(done)](Status noted) {
        if (!noted.ok()) return done(noted.error());
        const Clock& clock = kernel_.clock();
        done(protocol::ConsoleLink{sessions_.make_link(admin.name, clock.steady()),
                                   clock.now() + std::chrono::seconds{limits::console_link_seconds}});
      }));
}

Result<Admin> Logins::identify(const protocol::OpenSession& request) {
  if (request.link.empty() == request.token.empty())
    return Error{ErrorKind::invalid, "expected a link's secret or an admin token, one of the two"};
  const Clock& clock = kernel_.clock();
  if (!request.token.empty()) return tokens_.find(request.token, clock.now());
  TRY_ASSIGN(const std::string name, sessions_.owner_of_link(request.link, clock.steady()));
  return tokens_.named(name, clock.now());
}

void Logins::open(const protocol::OpenSession& request, const Admin& admin, Done<NewSession> done) {
  if (const Status room = may_log_in(admin); !room.ok()) return done(room.error());
  if (!request.link.empty())
    if (const auto taken = sessions_.take_link(request.link, kernel_.clock().steady()); !taken.ok())
      return done(taken.error());
  kernel_.decide<Noted>(
      note, act_of(admin, "console login", [this, admin, done = std::move(done)](Status noted) {
        if (!noted.ok()) return done(noted.error());
        console::OpenedSession opened = sessions_.open(admin.name, kernel_.clock().steady());
        done(NewSession{std::move(opened.secret), {admin, std::move(opened.session.guard)}});
      }));
}

Result<LoggedIn> Logins::find(const std::string& secret) {
  TRY_ASSIGN(console::Session session, sessions_.find(secret, kernel_.clock().steady()));
  auto admin = tokens_.named(session.admin, kernel_.clock().now());
  if (!admin.ok()) {
    sessions_.close(secret);
    return admin.error();
  }
  return LoggedIn{std::move(*admin), std::move(session.guard)};
}

}  // namespace gleaner::service

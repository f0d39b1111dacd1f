#include "server/console/sessions.h"

#include <algorithm>

#include "shared/crypto/keys.h"

namespace gleaner::console {
namespace {

constexpr std::size_t secret_bytes = 32;

std::string new_secret() {
  return to_base64url(crypto::random_secret(secret_bytes));
}

Error used_link() {
  return {ErrorKind::unauthorized,
          "this link was used already, or is too old: `gleaner-admin console` makes another"};
}

}  // namespace

bool Sessions::over(const Kept& kept, SteadyTime now) const {
  return now - kept.used >= rules_.idle || now - kept.opened >= rules_.absolute;
}

std::string Sessions::make_link(const std::string& admin, SteadyTime now) {
  std::string secret = new_secret();
  const std::lock_guard lock(mutex_);
  std::erase_if(links_, [&](const auto& each) { return now - each.second.made >= rules_.link; });
  if (links_.size() >= rules_.links_max)
    links_.erase(std::min_element(links_.begin(), links_.end(), [](const auto& a, const auto& b) {
      return a.second.made < b.second.made;
    }));
  links_[crypto::sha256(secret)] = {admin, now};
  return secret;
}

Result<std::string> Sessions::take_link(const std::string& secret, SteadyTime now) {
  auto admin = owner_of_link(secret, now);
  const std::lock_guard lock(mutex_);
  if (links_.erase(crypto::sha256(secret)) == 0 && admin.ok()) return used_link();  // by somebody, just now
  return admin;
}

Result<std::string> Sessions::owner_of_link(const std::string& secret, SteadyTime now) const {
  const std::lock_guard lock(mutex_);
  const auto found = links_.find(crypto::sha256(secret));
  if (found == links_.end() || now - found->second.made >= rules_.link) return used_link();
  return found->second.admin;
}

OpenedSession Sessions::open(const std::string& admin, SteadyTime now) {
  OpenedSession opened{new_secret(), {admin, new_secret()}};
  const std::lock_guard lock(mutex_);
  std::erase_if(sessions_, [&](const auto& each) { return over(each.second, now); });
  if (sessions_.size() >= rules_.sessions_max)
    sessions_.erase(std::min_element(sessions_.begin(), sessions_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  sessions_[crypto::sha256(opened.secret)] = {opened.session, now, now};
  return opened;
}

Result<Session> Sessions::find(const std::string& secret, SteadyTime now) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(crypto::sha256(secret));
  if (found != sessions_.end() && over(found->second, now)) {
    sessions_.erase(found);
  } else if (found != sessions_.end()) {
    found->second.used = now;
    return found->second.session;
  }
  return Error{ErrorKind::unauthorized, "your session has ended: log in again, with `gleaner-admin console`"};
}

void Sessions::close(const std::string& secret) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(crypto::sha256(secret));
}

std::size_t Sessions::count() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

}  // namespace gleaner::console

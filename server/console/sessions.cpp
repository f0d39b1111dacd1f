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
          "This link has expired or was already used. Run `gleaner-admin console` for a new one."};
}

// Makes room for one more of `admin`: if that administrator is at the limit for one, its oldest goes; if all
// together are at theirs, the oldest of all.
template <typename Map, typename AdminOf, typename TimeOf>
void make_room(Map& all, const std::string& admin, std::size_t of_one_max, std::size_t max, AdminOf admin_of,
               TimeOf time_of) {
  const auto own = static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const auto& each) { return admin_of(each.second) == admin; }));
  const bool own_only = own >= of_one_max;
  if (!own_only && all.size() < max) return;
  auto oldest = all.end();
  for (auto each = all.begin(); each != all.end(); ++each) {
    if (own_only && admin_of(each->second) != admin) continue;
    if (oldest == all.end() || time_of(each->second) < time_of(oldest->second)) oldest = each;
  }
  if (oldest != all.end()) all.erase(oldest);
}

}  // namespace

bool Sessions::over(const Kept& kept, SteadyTime now) const {
  return now - kept.used >= rules_.idle || now - kept.opened >= rules_.absolute;
}

std::string Sessions::make_link(const std::string& admin, SteadyTime now) {
  std::string secret = new_secret();
  const std::lock_guard lock(mutex_);
  std::erase_if(links_, [&](const auto& each) { return now - each.second.made >= rules_.link; });
  make_room(
      links_, admin, rules_.links_of_one_max, rules_.links_max, [](const Link& link) { return link.admin; },
      [](const Link& link) { return link.made; });
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
  make_room(
      sessions_, admin, rules_.sessions_of_one_max, rules_.sessions_max,
      [](const Kept& kept) { return kept.session.admin; }, [](const Kept& kept) { return kept.used; });
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

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "client/platform/owner.h"

namespace gleaner::platform {

namespace {

// Is this the superuser, and the directory another user's?
bool is_of_another(const io::Path& state, struct stat& facts) {
  return ::geteuid() == 0 && ::lstat(state.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid != 0;
}

}  // namespace

Status check_owner(const io::Path& state) {
  struct stat facts {};
  if (!is_of_another(state, facts)) return {};
  return Error{ErrorKind::invalid,
               state.string() + " belongs to another user: `systemctl start gleaner-client`, or `sudo -u '#" +
                   std::to_string(facts.st_uid) + "' gleaner-client run`"};
}

Result<std::string> become_owner_of(const io::Path& state) {
  struct stat facts {};
  if (!is_of_another(state, facts)) return std::string();
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> strings{};
  (void)::getpwuid_r(facts.st_uid, &entry, strings.data(), strings.size(), &found);
  const gid_t group = found != nullptr ? entry.pw_gid : facts.st_gid;
  // Groups first: afterwards it is not permitted any more.
  if (::setgroups(0, nullptr) != 0 || ::setresgid(group, group, group) != 0 ||
      ::setresuid(facts.st_uid, facts.st_uid, facts.st_uid) != 0)
    return Error{ErrorKind::io, "cannot act as the owner of " + state.string() + ": " + std::strerror(errno)};
  return found != nullptr ? std::string(entry.pw_name) : "user " + std::to_string(facts.st_uid);
}

}  // namespace gleaner::platform

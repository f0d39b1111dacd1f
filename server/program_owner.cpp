#include "server/program_owner.h"

#include <fmt/format.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

namespace gleaner::server {
namespace {

struct Owner {
  uid_t user;
  gid_t group;
};

// Absent: this is not root, or the directory is root's own.
std::optional<Owner> owner_of(const io::Path& directory) {
  struct stat status {};
  if (::geteuid() != 0 || ::stat(directory.c_str(), &status) != 0 || status.st_uid == 0) return std::nullopt;
  return Owner{status.st_uid, status.st_gid};
}

Error failed(const std::string& what) {
  return {ErrorKind::io, what + ": " + std::strerror(errno)};
}

// Until the process is root again, or ends.
Status act_as(const Owner& owner) {
  if (::setgroups(0, nullptr) != 0 || ::setegid(owner.group) != 0 || ::seteuid(owner.user) != 0)
    return failed("cannot act as the directory's owner");
  return {};
}

Status act_as_root() {
  if (::seteuid(0) != 0 || ::setegid(0) != 0) return failed("cannot act as root again");
  return {};
}

// The directory first: then nobody else can change what is in it.
Status give_to_root(const io::Path& directory) {
  if (::lchown(directory.c_str(), 0, 0) != 0) return failed("cannot take over " + directory.string());
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (::lchown(entry.path().c_str(), 0, 0) != 0) return failed("cannot take over " + entry.path().string());
  if (error)
    return Error{ErrorKind::io, "cannot take over what is in " + directory.string() + ": " + error.message()};
  return {};
}

}  // namespace

Status check_user(const io::Path& directory, const std::string& command, const std::string& program) {
  const auto owner = owner_of(directory);
  if (!owner) return {};
  return Error{ErrorKind::invalid,
               fmt::format("{} belongs to another user: do this as that one, `sudo -u '#{}' {} {} {}`",
                           directory.string(), owner->user, program, command, directory.string())};
}

Status make_as_owner(const io::Path& directory, const io::Path& offline,
                     const std::function<Status()>& make) {
  const auto owner = owner_of(directory);
  if (!owner) return make();
  // What is there already stays whose it is.
  const bool fresh = !io::real_files().exists(offline);
  if (fresh) {
    TRY(io::real_files().make_directories(offline));
    if (::lchown(offline.c_str(), owner->user, owner->group) != 0)
      return failed("cannot make " + offline.string());
  }
  TRY(act_as(*owner));
  const Status made = make();
  TRY(act_as_root());
  std::error_code ignored;  // empty or not: with keys in it, it stays
  if (fresh && (made.ok() || !std::filesystem::remove(offline, ignored))) TRY(give_to_root(offline));
  return made;
}

}  // namespace gleaner::server

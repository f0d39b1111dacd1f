#include "shared/io/system_error.h"

#include <cerrno>
#include <system_error>

namespace gleaner::io {
namespace {

// What a person can do about it; empty where the reason says all.
std::string_view advice_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "the disk is full: free some space";
    case EDQUOT:
      return "the disk quota is used up: free some space or raise the quota";
    case EACCES:
    case EPERM:
      return "check the owner and the permissions of the path";
    case EROFS:
      return "the file system is read-only: mount it writable or choose another directory";
    case EMFILE:
      return "this process has too many files open: raise its limit (ulimit -n, LimitNOFILE=)";
    case ENFILE:
      return "the system has too many files open: close some programs";
    case EFBIG:
      return "the file would exceed the allowed file size: raise it (ulimit -f, LimitFSIZE=)";
    case EIO:
      return "the disk reports errors: check it and the system's log";
    case ENOMEM:
      return "not enough memory: close some programs";
    case EAGAIN:
      return "too many processes or not enough memory: close some programs";
    case ENAMETOOLONG:
      return "choose a shorter path";
    case ELOOP:
      return "the path goes in circles: check its symbolic links";
    default:
      return "";
  }
}

}  // namespace

Error system_error(std::string_view what, int error_number) {
  const bool absent = error_number == ENOENT || error_number == ENOTDIR;
  Error error{absent ? ErrorKind::not_found : ErrorKind::io,
              "cannot " + std::string(what) + ": " + std::generic_category().message(error_number)};
  if (const auto advice = advice_for(error_number); !advice.empty())
    error.message.append(": ").append(advice);
  return error;
}

}  // namespace gleaner::io

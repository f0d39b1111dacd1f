#include "shared/base/result.h"

namespace gleaner {

const char* name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid:
      return "invalid";
    case ErrorKind::unauthorized:
      return "unauthorized";
    case ErrorKind::forbidden:
      return "forbidden";
    case ErrorKind::not_found:
      return "not-found";
    case ErrorKind::conflict:
      return "conflict";
    case ErrorKind::too_large:
      return "too-large";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::untrusted:
      return "untrusted";
    case ErrorKind::io:
      return "io";
    case ErrorKind::internal:
      return "internal";
    case ErrorKind::banned:
      return "banned";
  }
  return "unknown";
}

}  // namespace gleaner

#include "tools/admin/exit_code.h"

namespace gleaner::admin {

ExitCode exit_code_for(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::unavailable:
      return ExitCode::unreachable;
    case ErrorKind::not_found:
      return ExitCode::not_found;
    case ErrorKind::unauthorized:
    case ErrorKind::forbidden:
    case ErrorKind::banned:
    case ErrorKind::untrusted:
      return ExitCode::refused;
    case ErrorKind::invalid:
    case ErrorKind::conflict:
    case ErrorKind::too_large:
    case ErrorKind::io:
    case ErrorKind::internal:
      return ExitCode::failed;
  }
  return ExitCode::failed;
}

}  // namespace gleaner::admin

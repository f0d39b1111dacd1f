#include "shared/protocol/error_status.h"

#include <algorithm>
#include <array>

namespace gleaner::protocol {
namespace {

struct Entry {
  ErrorKind kind;
  int status;
  const char* title;
};

// Where two kinds share a status, the first is how it is heard.
constexpr std::array table{
    Entry{ErrorKind::invalid, 400, "Invalid request"},
    Entry{ErrorKind::unauthorized, 401, "Unauthorized"},
    Entry{ErrorKind::forbidden, 403, "Forbidden"},
    Entry{ErrorKind::not_found, 404, "Not found"},
    Entry{ErrorKind::conflict, 409, "Conflict"},
    Entry{ErrorKind::too_large, 413, "Content too large"},
    Entry{ErrorKind::untrusted, 422, "Verification failed"},
    Entry{ErrorKind::unavailable, 503, "Temporarily unavailable"},
    Entry{ErrorKind::io, 503, "Storage or process failure on the server"},
    Entry{ErrorKind::internal, 500, "Internal server error"},
    Entry{ErrorKind::banned, 403, "Banned"},
};
static_assert(table.size() == static_cast<std::size_t>(ErrorKind::banned));

// Statuses that our server does not use, but something on the way to it may.
struct Heard {
  int status;
  ErrorKind kind;
};
constexpr std::array also_heard{
    Heard{408, ErrorKind::unavailable}, Heard{410, ErrorKind::not_found},
    Heard{425, ErrorKind::unavailable}, Heard{429, ErrorKind::unavailable},
    Heard{502, ErrorKind::unavailable}, Heard{504, ErrorKind::unavailable},
};

constexpr std::string_view type_prefix = "urn:gleaner:error:";

const Entry& entry_of(ErrorKind kind) {
  const auto* const found =
      std::find_if(table.begin(), table.end(), [&](const Entry& entry) { return entry.kind == kind; });
  CHECK_TRUE(found != table.end());
  return *found;
}

}  // namespace

int status_of(ErrorKind kind) {
  return entry_of(kind).status;
}

ProblemDocument problem_document(const Error& error) {
  const Entry& entry = entry_of(error.kind);
  return {std::string(type_prefix) + name_of(error.kind), entry.title, entry.status, error.message};
}

ErrorKind kind_of_status(int status) {
  for (const Entry& entry : table)
    if (entry.status == status) return entry.kind;
  for (const Heard& heard : also_heard)
    if (heard.status == status) return heard.kind;
  return status >= 400 && status < 500 ? ErrorKind::invalid : ErrorKind::internal;
}

ErrorKind kind_of_problem(const ProblemDocument& document, int status) {
  if (document.type.starts_with(type_prefix)) {
    const auto name = std::string_view(document.type).substr(type_prefix.size());
    for (const Entry& entry : table)
      if (name == name_of(entry.kind))
        return entry.kind == ErrorKind::banned ? entry.kind : kind_of_status(entry.status);
  }
  return kind_of_status(status);
}

}  // namespace gleaner::protocol

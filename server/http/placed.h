// A request that has a place among those under way (service/core/load.h), and what answers it and gives the
// place back.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "server/http/responses.h"
#include "server/service/core/load.h"

namespace gleaner::http {

struct Placed {
  service::Load::Place place;
  Reply reply;
};

// A body that is not small, or a path by which blobs move.
[[nodiscard]] inline bool moves_blob(const std::string& path) {
  return path.starts_with("/v1/uploads/") || path.starts_with("/v1/blobs/");
}
// An upload keeps the part of a piece that arrived before its connection broke.
[[nodiscard]] inline bool takes_part(const Request& head) {
  return head.method == "PATCH" && head.path.starts_with("/v1/uploads/");
}
// A large body that nobody was to read, by body_bytes_max().
[[nodiscard]] inline bool is_unread(const Request& request) {
  return request.body.empty() &&
         parse_number(header(request, "content-length")).value_or(0) > small_body_bytes;
}

// None: it was told to come again.
[[nodiscard]] std::optional<Placed> place(service::Load& load, const Request& request,
                                          const service::Load::Visitor& who, const Reply& reply);

}  // namespace gleaner::http

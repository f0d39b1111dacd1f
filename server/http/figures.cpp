#include "server/http/figures.h"

#include <algorithm>

namespace gleaner::http {
namespace {

struct Place {
  std::string_view path;
  RequestKind kind;
};
constexpr std::array whole{
    Place{"/v1/work", RequestKind::work},       Place{"/v1/heartbeat", RequestKind::heartbeat},
    Place{"/v1/failure", RequestKind::failure}, Place{"/v1/leave", RequestKind::leave},
    Place{"/v1/enrol", RequestKind::enrol},     Place{"/v1/project", RequestKind::project},
    Place{"/healthz", RequestKind::operations}, Place{"/readyz", RequestKind::operations},
    Place{"/metrics", RequestKind::operations}, Place{"/console", RequestKind::console},
};
constexpr std::array beginnings{
    Place{"/v1/uploads/", RequestKind::uploads},     Place{"/v1/blobs/", RequestKind::blobs},
    Place{"/v1/addresses/", RequestKind::addresses}, Place{"/v1/admin/", RequestKind::admin},
    Place{"/v1/enrol/nonce", RequestKind::project},  Place{"/v1/relay/", RequestKind::relay},
    Place{"/v1/console/", RequestKind::console},     Place{"/console/", RequestKind::console},
};

}  // namespace

RequestKind kind_of(std::string_view path) {
  for (const Place& place : whole)
    if (path == place.path) return place.kind;
  for (const Place& place : beginnings)
    if (path.starts_with(place.path)) return place.kind;
  return RequestKind::other;
}

void RequestFigures::answered(RequestKind kind, int status) {
  const auto status_class = static_cast<std::size_t>(std::clamp(status / 100, 1, 5));
  ++answers_.at(static_cast<std::size_t>(kind)).at(status_class - 1);
  for (std::size_t i = 0; i < refusals.size(); ++i)
    if (refusals.at(i).status == status) ++refused_.at(i);
}

std::int64_t RequestFigures::answers(RequestKind kind, int status_class) const {
  return answers_.at(static_cast<std::size_t>(kind)).at(static_cast<std::size_t>(status_class - 1));
}

}  // namespace gleaner::http

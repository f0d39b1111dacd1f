#include "server/http/placed.h"

namespace gleaner::http {

std::optional<Placed> place(service::Load& load, const Request& request, const service::Load::Visitor& who,
                            const Reply& reply) {
  using service::Load;
  const auto bytes = static_cast<std::int64_t>(request.body.size());
  const bool unread = is_unread(request);
  const bool large = bytes > small_body_bytes || unread || moves_blob(request.path);
  auto entered = load.enter(who, large ? Load::Size::large : Load::Size::small);
  if (entered.ok() && unread)
    entered = Error{ErrorKind::unavailable, "the body was not read: try again later"};
  if (!entered.ok()) {
    reply(busy_response(entered.error()));
    return {};
  }
  const Load::Place place = std::move(*entered);
  if (bytes > small_body_bytes) place->account().take(bytes);
  return Placed{place, [place, reply](Response response) {
                  const auto answered = static_cast<std::int64_t>(response.body.size());
                  if (answered > small_body_bytes) place->account().take(answered);
                  place->leave();
                  reply(std::move(response));
                }};
}

}  // namespace gleaner::http

#include "server/service/core/prepared_commit.h"

#include <utility>

#include "shared/protocol/codec.h"

namespace gleaner::service {

Status read_delivery(PreparedCommit& prepared) {
  if (prepared.delivery) return {};
  const protocol::CommitRequest& request = prepared.request;
  const auto refusal = [](const char* why) { return Error{ErrorKind::invalid, why}; };
  if (request.delivery->type != protocol::StatementType::delivery)
    return refusal("its delivery is another kind of statement");
  auto delivery = protocol::decode<protocol::Delivery>(request.delivery->payload);
  if (!delivery.ok()) return delivery.error().within("its delivery cannot be read");
  if (delivery->range != request.range || delivery->digest != request.digest ||
      delivery->bytes != request.bytes)
    return refusal("its delivery is of another result");
  prepared.delivery = std::move(*delivery);
  return {};
}

}  // namespace gleaner::service

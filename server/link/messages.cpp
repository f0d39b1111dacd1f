#include "server/link/messages.h"

#include "server/link/fields.h"
#include "shared/protocol/packer.h"
#include "shared/protocol/unpacker.h"

namespace gleaner::link {

template <typename Message>
Bytes pack(const Message& message) {
  protocol::codec::Packer packer;
  visit(packer, message);
  return packer.take();
}

namespace {

Error other_version() {
  return {ErrorKind::invalid,
          "what came over the link is not what it says: do leader and front ends have one version?"};
}

}  // namespace

template <typename Message>
Result<Message> unpack(std::string_view bytes) {
  protocol::codec::Unpacker unpacker(bytes);
  Message message;
  visit(unpacker, message);
  if (!unpacker.complete()) return other_version();
  return message;
}

Error unpack_error(std::string_view bytes) {
  protocol::codec::Unpacker unpacker(bytes);
  Error error;
  visit(unpacker, error);
  return unpacker.complete() ? error : other_version();
}

template Bytes pack(const Error&);

#define GLEANER_INSTANTIATE_PACKING(Message) \
  template Bytes pack(const Message&);       \
  template Result<Message> unpack(std::string_view)

GLEANER_INSTANTIATE_PACKING(Hello);
GLEANER_INSTANTIATE_PACKING(Caller);
GLEANER_INSTANTIATE_PACKING(WhoAnswer);
GLEANER_INSTANTIATE_PACKING(PlaceCall);
GLEANER_INSTANTIATE_PACKING(PlaceAnswer);
GLEANER_INSTANTIATE_PACKING(WorkCall);
GLEANER_INSTANTIATE_PACKING(WorkAnswer);
GLEANER_INSTANTIATE_PACKING(HeartbeatCall);
GLEANER_INSTANTIATE_PACKING(FailureCall);
GLEANER_INSTANTIATE_PACKING(BlobCall);
GLEANER_INSTANTIATE_PACKING(BlobAnswer);
GLEANER_INSTANTIATE_PACKING(http::Request);
GLEANER_INSTANTIATE_PACKING(http::Response);
GLEANER_INSTANTIATE_PACKING(protocol::HeartbeatReply);

}  // namespace gleaner::link

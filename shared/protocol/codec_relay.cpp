#include "shared/protocol/codec_parts.h"
#include "shared/protocol/fields_relay.h"

namespace gleaner::protocol {

GLEANER_INSTANTIATE_CODEC(RelayCertificate);
GLEANER_INSTANTIATE_CODEC(EnrolmentNonce);
GLEANER_INSTANTIATE_CODEC(Enrolment);
GLEANER_INSTANTIATE_CODEC(RelayHostReply);
GLEANER_INSTANTIATE_CODEC(RelayHostLeft);
GLEANER_INSTANTIATE_CODEC(AddRelay);
GLEANER_INSTANTIATE_CODEC(RelayQuota);
GLEANER_INSTANTIATE_CODEC(RelayInfo);
GLEANER_INSTANTIATE_CODEC(std::vector<RelayInfo>);
GLEANER_INSTANTIATE_CODEC(RelayLimit);
GLEANER_INSTANTIATE_CODEC(RelayStatus);
GLEANER_INSTANTIATE_CODEC(RelayGrant);
GLEANER_INSTANTIATE_CODEC(Delivery);
GLEANER_INSTANTIATE_CODEC(Failure);
GLEANER_INSTANTIATE_CODEC(StageDescription);

}  // namespace gleaner::protocol

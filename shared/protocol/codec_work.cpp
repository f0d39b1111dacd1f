#include "shared/protocol/codec_parts.h"
#include "shared/protocol/fields_work.h"

namespace gleaner::protocol {

GLEANER_INSTANTIATE_CODEC(Benchmark);
GLEANER_INSTANTIATE_CODEC(EnrolRequest);
GLEANER_INSTANTIATE_CODEC(EnrolReply);
GLEANER_INSTANTIATE_CODEC(CommitRequest);
GLEANER_INSTANTIATE_CODEC(UnitReport);
GLEANER_INSTANTIATE_CODEC(HeartbeatRequest);
GLEANER_INSTANTIATE_CODEC(UnitOrder);
GLEANER_INSTANTIATE_CODEC(HeartbeatReply);
GLEANER_INSTANTIATE_CODEC(Proposal);
GLEANER_INSTANTIATE_CODEC(SlotRequest);
GLEANER_INSTANTIATE_CODEC(WorkRequest);
GLEANER_INSTANTIATE_CODEC(ProblemProgress);
GLEANER_INSTANTIATE_CODEC(WorkReply);
GLEANER_INSTANTIATE_CODEC(FailureReport);
GLEANER_INSTANTIATE_CODEC(UploadState);
GLEANER_INSTANTIATE_CODEC(ProblemDocument);

}  // namespace gleaner::protocol

#include "shared/protocol/codec_parts.h"
#include "shared/protocol/fields_admin.h"

namespace gleaner::protocol {

GLEANER_INSTANTIATE_CODEC(ApplicationInfo);
GLEANER_INSTANTIATE_CODEC(AddApplication);
GLEANER_INSTANTIATE_CODEC(AddProblem);
GLEANER_INSTANTIATE_CODEC(ResultFile);
GLEANER_INSTANTIATE_CODEC(Preview);
GLEANER_INSTANTIATE_CODEC(HostShare);
GLEANER_INSTANTIATE_CODEC(SetAside);
GLEANER_INSTANTIATE_CODEC(ProblemInfo);
GLEANER_INSTANTIATE_CODEC(HostInfo);
GLEANER_INSTANTIATE_CODEC(ServerStatus);
GLEANER_INSTANTIATE_CODEC(ChangeStrategy);
GLEANER_INSTANTIATE_CODEC(ChangeApplication);
GLEANER_INSTANTIATE_CODEC(StrategyInfo);
GLEANER_INSTANTIATE_CODEC(DecisionInfo);
GLEANER_INSTANTIATE_CODEC(std::vector<ApplicationInfo>);
GLEANER_INSTANTIATE_CODEC(std::vector<ProblemInfo>);
GLEANER_INSTANTIATE_CODEC(std::vector<HostInfo>);
GLEANER_INSTANTIATE_CODEC(std::vector<DecisionInfo>);
GLEANER_INSTANTIATE_CODEC(std::vector<StrategyInfo>);

}  // namespace gleaner::protocol

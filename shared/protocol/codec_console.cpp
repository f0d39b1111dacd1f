#include "shared/protocol/codec_parts.h"
#include "shared/protocol/fields_console.h"

namespace gleaner::protocol {

GLEANER_INSTANTIATE_CODEC(ConsoleLink);
GLEANER_INSTANTIATE_CODEC(OverviewSample);
GLEANER_INSTANTIATE_CODEC(DayInfo);
GLEANER_INSTANTIATE_CODEC(ProblemSample);
GLEANER_INSTANTIATE_CODEC(SettingInfo);
GLEANER_INSTANTIATE_CODEC(OpenSession);
GLEANER_INSTANTIATE_CODEC(SessionInfo);
GLEANER_INSTANTIATE_CODEC(LiveView);
GLEANER_INSTANTIATE_CODEC(ItemMap);
GLEANER_INSTANTIATE_CODEC(HostPage);
GLEANER_INSTANTIATE_CODEC(TableRow);
GLEANER_INSTANTIATE_CODEC(TablePage);
GLEANER_INSTANTIATE_CODEC(std::vector<DayInfo>);
GLEANER_INSTANTIATE_CODEC(std::vector<ErrorGroup>);
GLEANER_INSTANTIATE_CODEC(std::vector<OverviewSample>);
GLEANER_INSTANTIATE_CODEC(std::vector<ProblemSample>);
GLEANER_INSTANTIATE_CODEC(std::vector<SettingInfo>);

}  // namespace gleaner::protocol

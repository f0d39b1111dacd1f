// The highest number of each enumeration that is stored. A number beyond it in the file is damage (or a newer
// program's, which the schema version would have told): a new enumerator goes here too.
#pragma once

#include "server/policy/stage/stage.h"
#include "shared/protocol/access_messages.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/messages.h"

namespace gleaner::storage {

enum class SegmentPlace : int;

template <typename Enum>
inline constexpr int last_number = 0;
template <>
inline constexpr int last_number<policy::UnitKind> = 6;
template <>
inline constexpr int last_number<policy::UnitState> = 5;
template <>
inline constexpr int last_number<policy::Straggler> = static_cast<int>(policy::last_straggler);
template <>
inline constexpr int last_number<SegmentPlace> = 3;
template <>
inline constexpr int last_number<protocol::RunState> = 3;
template <>
inline constexpr int last_number<protocol::Role> = 3;
template <>
inline constexpr int last_number<protocol::BanKind> = 3;
template <>
inline constexpr int last_number<protocol::HostState> = 3;
template <>
inline constexpr int last_number<protocol::ProblemState> = 7;
template <>
inline constexpr int last_number<protocol::CommitStatus> = 3;
template <>
inline constexpr int last_number<protocol::FailureKind> = 8;
template <>
inline constexpr int last_number<protocol::StatementType> = 6;

}  // namespace gleaner::storage

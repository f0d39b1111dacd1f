#include "shared/protocol/codec_parts.h"
#include "shared/protocol/fields_access.h"

namespace gleaner::protocol {

const char* name_of(Role role) {
  switch (role) {
    case Role::view:
      return "viewer";
    case Role::operate:
      return "operator";
    case Role::own:
      return "owner";
  }
  return "unknown";
}

const char* name_of(BanKind kind) {
  switch (kind) {
    case BanKind::code:
      return "code";
    case BanKind::key:
      return "key";
    case BanKind::network:
      return "network";
  }
  return "unknown";
}

GLEANER_INSTANTIATE_CODEC(Ban);
GLEANER_INSTANTIATE_CODEC(AddBan);
GLEANER_INSTANTIATE_CODEC(RemoveBan);
GLEANER_INSTANTIATE_CODEC(std::vector<Ban>);
GLEANER_INSTANTIATE_CODEC(TokenInfo);
GLEANER_INSTANTIATE_CODEC(AddToken);
GLEANER_INSTANTIATE_CODEC(WithdrawToken);
GLEANER_INSTANTIATE_CODEC(MadeToken);
GLEANER_INSTANTIATE_CODEC(std::vector<TokenInfo>);
GLEANER_INSTANTIATE_CODEC(Act);
GLEANER_INSTANTIATE_CODEC(ChainPlace);
GLEANER_INSTANTIATE_CODEC(RefusalCount);
GLEANER_INSTANTIATE_CODEC(AuditPage);

}  // namespace gleaner::protocol

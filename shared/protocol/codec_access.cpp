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

GLEANER_INSTANTIATE_CODEC(TokenInfo);
GLEANER_INSTANTIATE_CODEC(AddToken);
GLEANER_INSTANTIATE_CODEC(MadeToken);
GLEANER_INSTANTIATE_CODEC(std::vector<TokenInfo>);

}  // namespace gleaner::protocol

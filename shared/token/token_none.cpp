#include "shared/token/root_key.h"

namespace gleaner::token {

Result<crypto::RootKey> open_token_key(const io::Files&, const std::string&) {
  return Error{
      ErrorKind::unavailable,
      "this program was built without p11-kit, through which it would reach hardware tokens: build it "
      "with libp11-kit-dev installed, or use a root key in a file"};
}

}  // namespace gleaner::token

// Many texts under one digest, each provable alone (Merkle 1979; leaves and nodes are told apart as in RFC
// 6962, section 2.1: SHA-256 of 0x00 + text, and of 0x01 + left + right; the last of an odd level goes up as
// it is). A proof has 33 bytes for each level on the way to the root: 'L' or 'R', the side on which the other
// digest is, and that digest. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::crypto {

struct HashTree {
  Bytes root;                 // 32 bytes
  std::vector<Bytes> proofs;  // one for each text, in order
};
// REQUIRES: !texts.empty().
[[nodiscard]] HashTree hash_tree(const std::vector<std::string>& texts);
// The root that the proof leads to; untrusted: it is not a proof.
[[nodiscard]] Result<Bytes> root_of(std::string_view text, std::string_view proof);

}  // namespace gleaner::crypto

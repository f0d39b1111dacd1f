#include "shared/crypto/hash_tree.h"

#include "shared/base/check.h"
#include "shared/crypto/keys.h"

namespace gleaner::crypto {
namespace {

constexpr std::size_t digest_bytes = 32;
constexpr std::size_t step_bytes = 1 + digest_bytes;

Bytes leaf(std::string_view text) {
  return sha256(std::string(1, '\0') + std::string(text));
}

Bytes node(std::string_view left, std::string_view right) {
  return sha256(std::string(1, '\1') + std::string(left) + std::string(right));
}

}  // namespace

HashTree hash_tree(const std::vector<std::string>& texts) {
  CHECK_TRUE(!texts.empty());
  HashTree tree;
  tree.proofs.resize(texts.size());
  std::vector<Bytes> level;
  level.reserve(texts.size());
  for (const auto& text : texts) level.push_back(leaf(text));
  for (std::size_t width = 1; level.size() > 1; width *= 2) {  // texts under a node of this level
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::size_t other = i / width ^ 1;
      if (other < level.size()) tree.proofs[i] += (other % 2 == 0 ? 'L' : 'R') + level[other];
    }
    std::vector<Bytes> above;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) above.push_back(node(level[i], level[i + 1]));
    if (level.size() % 2 == 1) above.push_back(std::move(level.back()));
    level = std::move(above);
  }
  tree.root = std::move(level.front());
  return tree;
}

Result<Bytes> root_of(std::string_view text, std::string_view proof) {
  const Error broken{ErrorKind::untrusted, "its proof is not one"};
  if (proof.size() % step_bytes != 0) return broken;
  Bytes digest = leaf(text);
  for (; !proof.empty(); proof.remove_prefix(step_bytes)) {
    const std::string_view other = proof.substr(1, digest_bytes);
    if (proof.front() == 'L')
      digest = node(other, digest);
    else if (proof.front() == 'R')
      digest = node(digest, other);
    else
      return broken;
  }
  return digest;
}

}  // namespace gleaner::crypto

#include "server/service/core/lost_blobs.h"

#include <algorithm>

namespace gleaner::service {

bool is_lost(const Status& verified) {
  return !verified.ok() && verified.error().kind != ErrorKind::io;
}

std::vector<std::string> damaged_among(storage::BlobStore& blobs, std::vector<std::string> digests) {
  std::sort(digests.begin(), digests.end());
  digests.erase(std::unique(digests.begin(), digests.end()), digests.end());
  std::erase_if(digests, [&](const std::string& digest) { return !is_lost(blobs.verify(digest)); });
  return digests;
}

std::vector<std::string> digests_of(const std::vector<protocol::Input>& inputs) {
  std::vector<std::string> digests;
  for (const auto& input : inputs) digests.push_back(input.digest);
  return digests;
}

}  // namespace gleaner::service

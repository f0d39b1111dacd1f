// Where an object store is, and with which keys: what a project's settings say. Thread-safe.
#pragma once

#include <string>

#include "server/objects/sigv4.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::objects {

struct Place {
  std::string scheme;  // "https", or "http" where the network is one's own
  std::string host;    // with its port, if that is not the scheme's own
  std::string bucket;
  std::string prefix;  // of every key: empty, or "a/b/"

  [[nodiscard]] std::string path(const std::string& key) const { return "/" + bucket + "/" + prefix + key; }
  [[nodiscard]] std::string shown() const;  // as parse_place() takes it
};

// "s3+https://HOST[:PORT]/BUCKET[/PREFIX]" or "s3+http://..."; invalid: what is wrong with it. Buckets are
// addressed by path, which every store understands.
[[nodiscard]] Result<Place> parse_place(const std::string& url);

// "https://HOST[:PORT]", or "http://" and an address of this computer (to try something out); invalid.
[[nodiscard]] Result<std::string> parse_origin(const std::string& url);

// Two words, of a file that nobody else may read: the access key's id and its secret.
[[nodiscard]] Result<Credentials> read_credentials(const io::Files& files, const io::Path& path,
                                                   const std::string& region);

}  // namespace gleaner::objects

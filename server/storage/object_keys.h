// Keys and errors of blobs in an object store. Internal to object_blobs*.cpp.
#pragma once

#include <string>
#include <string_view>

#include "server/objects/bucket.h"
#include "shared/base/result.h"

namespace gleaner::storage {

inline std::string key_of(const std::string& digest) {
  return "blobs/" + digest;
}

inline Error no_digest() {
  return {ErrorKind::invalid, "a blob is named by its SHA-256 in 64 lower-case hexadecimal digits"};
}

inline constexpr const char* owner_key = "owner";
inline constexpr std::string_view owner_line = "Blobs of the Gleaner project ";

// The project that a bucket says it is of; not_found: it says nothing.
inline Result<std::string> read_owner(objects::Bucket& bucket) {
  TRY_ASSIGN(const auto piece, bucket.get(owner_key, 0, 4096));
  const std::string_view text = piece.bytes;
  if (!text.starts_with(owner_line) || !text.ends_with("\n"))
    return Error{ErrorKind::io, "the object store answers with nonsense"};
  return std::string(text.substr(owner_line.size(), text.size() - owner_line.size() - 1));
}

// A request that is refused may be granted again when somebody has mended the settings: nothing is lost.
inline Error away(Error error) {
  if (error.kind == ErrorKind::forbidden) error.kind = ErrorKind::io;
  return error;
}

}  // namespace gleaner::storage

// Keys and errors of blobs in an object store. Internal to object_blobs*.cpp.
#pragma once

#include <string>

#include "shared/base/result.h"

namespace gleaner::storage {

inline std::string key_of(const std::string& digest) {
  return "blobs/" + digest;
}

inline Error no_digest() {
  return {ErrorKind::invalid, "a blob is named by its SHA-256 in 64 lower-case hexadecimal digits"};
}

// A request that is refused may be granted again when somebody has mended the settings: nothing is lost.
inline Error away(Error error) {
  if (error.kind == ErrorKind::forbidden) error.kind = ErrorKind::io;
  return error;
}

}  // namespace gleaner::storage

// How far the store was, written down beside it: `store.generation`. The store counts the transactions that
// changed it; a store that is behind its note lost something while nobody looked (its log was removed or cut,
// an older copy was put back), and says so instead of going on as if nothing had been.
//
// A note speaks only of what was durable before it was written, and is replaced as a whole: neither a killed
// server nor a power cut can make it say too much. It may say too little: what was committed after it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::storage {

struct GenerationNote {
  std::int64_t generation = 0;
  std::int64_t units = 0, segments = 0;  // ids below have been given
  Timestamp at;

  friend bool operator==(const GenerationNote&, const GenerationNote&) = default;
};

[[nodiscard]] io::Path generation_note_path(const io::Path& directory);
// Nothing: there is none (a new store, or one from before there were notes). invalid: it is damaged.
[[nodiscard]] Result<std::optional<GenerationNote>> read_generation_note(const io::Files& files,
                                                                         const io::Path& directory);
// Durable on success.
[[nodiscard]] Status write_generation_note(io::Files& files, const io::Path& directory,
                                           const GenerationNote& note);

}  // namespace gleaner::storage

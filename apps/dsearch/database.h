// The database on the server: read once, cut into chunks, its names and chunks kept as files of the manager's
// working directory. What is there already (after a restart) is used again. Errors: invalid, too_large, io.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "apps/dsearch/fasta.h"
#include "apps/dsearch/layout.h"
#include "apps/dsearch/settings.h"
#include "apps/dsearch/statistics.h"

namespace gleaner::dsearch {

struct DatabaseSize {
  std::int64_t records = 0;
  std::int64_t residues = 0;
  std::int64_t longest = 0;
  LengthClasses classes;
};

// Reads it to its end and says what is wrong with it.
[[nodiscard]] Result<DatabaseSize> measure_database(const std::filesystem::path& path, Alphabet alphabet);

// Cuts it at borders of records into at most chunks_max chunks of about that many residues, written as
// chunk_name(); their records' names are written too.
[[nodiscard]] Result<std::vector<Layout::Chunk>> write_chunks(const std::filesystem::path& path,
                                                              Alphabet alphabet, std::int64_t residues);

// Names, descriptions and lengths of records, one at a time from the disk.
class Names {
 public:
  [[nodiscard]] static Result<Names> open();
  struct Name {
    std::string name, description;
    std::int64_t length = 0;  // residues
  };
  [[nodiscard]] Result<Name> of(std::uint64_t record);

 private:
  std::ifstream index_;
  std::ifstream text_;
};

}  // namespace gleaner::dsearch

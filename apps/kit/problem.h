// The directory that the command `problem DIRECTORY` names: parameters.json and inputs/NAME, read only.
// Errors: io (a file is missing or unreadable), too_large, invalid.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "apps/kit/parameters.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::kit {

class Problem {
 public:
  explicit Problem(std::filesystem::path directory) : directory_(std::move(directory)) {}

  [[nodiscard]] Result<Parameters> parameters() const;
  // REQUIRES of the caller nothing: a name that is no plain file name is an error.
  [[nodiscard]] Result<std::filesystem::path> input_path(const std::string& name) const;
  [[nodiscard]] Result<Bytes> read_input(const std::string& name, std::int64_t bytes_max) const;
  [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path directory_;
};

// The whole file; too_large beyond bytes_max.
[[nodiscard]] Result<Bytes> read_file(const std::filesystem::path& path, std::int64_t bytes_max);
// Written beside, then renamed: a reader sees the old file or the new one.
[[nodiscard]] Status write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace gleaner::kit

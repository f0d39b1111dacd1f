#include "apps/kit/problem.h"

#include <fstream>
#include <system_error>

#include "shared/base/limits.h"
#include "shared/base/paths.h"

namespace gleaner::kit {

Result<Bytes> read_file(const std::filesystem::path& path, std::int64_t bytes_max) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return Error{ErrorKind::io, "cannot open " + utf8_text(path)};
  const auto size = static_cast<std::int64_t>(file.tellg());
  if (size < 0) return Error{ErrorKind::io, utf8_text(path) + " is not a plain file"};
  if (size > bytes_max) {
    return Error{ErrorKind::too_large, utf8_text(path) + " has " + std::to_string(size) + " bytes; at most " +
                                           std::to_string(bytes_max) + " are allowed"};
  }
  Bytes bytes(static_cast<std::size_t>(size), '\0');
  file.seekg(0);
  if (!file.read(bytes.data(), size)) return Error{ErrorKind::io, "cannot read " + utf8_text(path)};
  return bytes;
}

Status write_file(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path beside = with_suffix(path, ".new");
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return Error{ErrorKind::io, "cannot write " + utf8_text(beside) + " (is the disk full?)"};
  std::error_code error;
  std::filesystem::rename(beside, path, error);
  if (error) return Error{ErrorKind::io, "cannot rename to " + utf8_text(path) + ": " + error.message()};
  return {};
}

Result<Parameters> Problem::parameters() const {
  TRY_ASSIGN(const Bytes text, read_file(directory_ / "parameters.json", limits::parameters_bytes_max));
  return Parameters::parse(text);
}

Result<std::filesystem::path> Problem::input_path(const std::string& name) const {
  const bool plain = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
                     name.find('\0') == std::string::npos;
  if (!plain) return Error{ErrorKind::invalid, "'" + name + "' is not the name of an input"};
  const std::filesystem::path path = directory_ / "inputs" / utf8_path(name);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Error{ErrorKind::not_found, "there is no input '" + name + "': add it to the problem"};
  }
  return path;
}

Result<Bytes> Problem::read_input(const std::string& name, std::int64_t bytes_max) const {
  TRY_ASSIGN(const std::filesystem::path path, input_path(name));
  return read_file(path, bytes_max);
}

}  // namespace gleaner::kit

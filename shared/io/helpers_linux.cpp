#include <unistd.h>

#include "shared/io/run_program.h"

namespace gleaner::io {

Path find_helper(const std::string& name, const std::string& package) {
  std::error_code error;
  const Path here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const Path& place : {here, here / "../libexec" / package, Path("/usr/libexec") / package})
    if (::access((place / name).c_str(), X_OK) == 0) return (place / name).lexically_normal();
  return {};
}

}  // namespace gleaner::io

#include "client/engine/set_aside.h"

#include <spdlog/spdlog.h>

#include "shared/base/paths.h"

namespace gleaner::engine {
namespace {
constexpr const char* suffix = "-set-aside-";
}  // namespace

Status remove_or_set_aside(io::Files& files, Random& random, const io::Path& directory) {
  const Status removed = files.remove_all(directory);
  if (removed.ok()) return {};
  io::Path aside = directory;
  aside += suffix + std::to_string(random.below(1'000'000'000));
  if (!files.rename(directory, aside).ok()) return removed.error();
  spdlog::warn("{}; it is left in {}: remove that by hand", removed.error().message, utf8_text(aside));
  return {};
}

void remove_set_aside(io::Files& files, const io::Path& directory) {
  const auto names = files.list(directory.parent_path());
  if (!names.ok()) return;
  for (const std::string& name : *names)
    if (name.starts_with(utf8_text(directory.filename()) + suffix))
      if (const Status removed = files.remove_all(directory.parent_path() / utf8_path(name)); !removed.ok())
        spdlog::warn("{}: remove it by hand", removed.error().message);
}

}  // namespace gleaner::engine

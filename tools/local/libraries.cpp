#include "tools/local/libraries.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "shared/base/limits.h"
#include "shared/sandbox/elf_file.h"
#include "shared/sandbox/systems.h"

namespace gleaner::local {
namespace {

bool is_promised(const std::string& library) {
  return std::ranges::find(sandbox::promised_libraries, library) != sandbox::promised_libraries.end();
}

// Where the ABIs have it. Other places are those of a package manager such as Nix; and musl's is of Alpine.
bool is_promised_loader(const io::Path& loader) {
  const io::Path directory = loader.parent_path();
  const bool usual =
      directory == "/lib64" || directory == "/lib" || directory == "/usr/lib64" || directory == "/usr/lib";
  return usual && !loader.filename().string().starts_with("ld-musl");
}

// "2.38" of "GLIBC_2.38"; nothing of another series, or of a name that is no number.
std::optional<std::vector<int>> numbers_of(std::string_view version, std::string_view series) {
  if (!version.starts_with(series)) return std::nullopt;
  std::vector<int> numbers;
  std::string_view rest = version.substr(series.size());
  while (!rest.empty() && numbers.size() < 4) {
    int number = 0;
    const auto [end, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (wrong != std::errc{}) return std::nullopt;
    numbers.push_back(number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.empty() && rest.front() != '.') return std::nullopt;
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return numbers;
}

// The first of `versions` that the system lacks and the bundle does not bring.
std::optional<NewerSymbol> newer_than(const sandbox::System& system,
                                      const std::vector<sandbox::SymbolVersion>& versions,
                                      const std::map<std::string, std::string>& brought) {
  for (const sandbox::SymbolVersion& each : versions) {
    if (brought.contains(each.library)) continue;
    for (const auto& [series, has] :
         {std::pair{"GLIBC_", system.glibc}, std::pair{"GLIBCXX_", system.libstdcxx}}) {
      const auto asked = numbers_of(each.version, series);
      if (asked && *asked > numbers_of(has, "").value_or(std::vector<int>{}))
        return NewerSymbol{{}, each.version, std::string(system.name) + " has " + has, system.client};
    }
  }
  return std::nullopt;
}

}  // namespace

Result<SystemNeeds> system_needs(const io::Files& files, const io::Path& bundle,
                                 const std::vector<std::string>& on_server) {
  std::map<std::string, std::string> there;                          // files by their names alone
  std::map<std::string, std::vector<std::string>> needed;            // by file
  std::map<std::string, std::vector<sandbox::SymbolVersion>> asked;  // by file
  std::map<std::string, std::string> loaders;                        // by file
  std::error_code failure;
  for (std::filesystem::recursive_directory_iterator entry(bundle, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    std::error_code unknown;
    if (!entry->is_regular_file(unknown)) continue;
    const std::string file = entry->path().lexically_relative(bundle).string();
    TRY_ASSIGN(const Bytes bytes, files.read(entry->path(), limits::bundle_bytes_max));
    needed[file] = sandbox::needed_libraries(bytes);
    asked[file] = sandbox::needed_versions(bytes);
    loaders[file] = sandbox::needed_loader(bytes);
    there[entry->path().filename().string()] = file;
  }
  if (failure)
    return Error{ErrorKind::io, "cannot look through " + bundle.string() + ": " + failure.message()};
  std::vector<std::string> waiting;
  for (const auto& [file, libraries] : needed)
    if (std::ranges::find(on_server, file) == on_server.end() && file.find(".so") == std::string::npos)
      waiting.push_back(file);
  std::set<std::string> seen(waiting.begin(), waiting.end());
  SystemNeeds needs;
  for (const std::string& file : on_server)
    for (const std::string& library : needed[file])
      if (!there.contains(library) && !is_promised(library)) needs.on_server.push_back({file, library});
  for (std::size_t next = 0; next < waiting.size(); ++next) {
    const std::string file = waiting[next];
    // One in the bundle is named in the command, and starts the program.
    if (const io::Path loader = loaders[file];
        !loader.empty() && !is_promised_loader(loader) && !there.contains(loader.filename().string()))
      needs.missing.push_back({file, loader.string()});
    for (const sandbox::System& system : sandbox::systems)
      if (auto newer = newer_than(system, asked[file], there)) {
        newer->file = file;
        needs.newer.push_back(std::move(*newer));
      }
    for (const std::string& library : needed[file]) {
      // Our own kernel of a wrapped program is started without the libraries that come along.
      if (library == "libc.so.6" && needs.glibc.empty() &&
          (!there.contains(library) || file.ends_with("gleaner-wrap-kernel")))
        needs.glibc = file;
      const auto own = there.find(library);
      if (own == there.end()) {
        if (!is_promised(library)) needs.missing.push_back({file, library});
      } else if (seen.insert(own->second).second) {
        waiting.push_back(own->second);
      }
    }
  }
  return needs;
}

}  // namespace gleaner::local

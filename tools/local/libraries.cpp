#include "tools/local/libraries.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "shared/base/limits.h"
#include "shared/sandbox/systems.h"

namespace gleaner::local {
namespace {

constexpr std::size_t needed_max = 1000;

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

template <typename T>
std::optional<T> at(std::string_view file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

std::vector<Elf64_Phdr> segments_of(std::string_view file, const Elf64_Ehdr& head) {
  std::vector<Elf64_Phdr> segments;
  for (std::uint64_t i = 0; i < head.e_phnum; ++i)
    if (const auto segment = at<Elf64_Phdr>(file, head.e_phoff + i * sizeof(Elf64_Phdr)))
      segments.push_back(*segment);
  return segments;
}

// Where in the file that address is loaded from.
std::optional<std::uint64_t> offset_of(std::uint64_t address, const std::vector<Elf64_Phdr>& segments) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

std::vector<Elf64_Dyn> dynamic_entries(std::string_view file, const std::vector<Elf64_Phdr>& segments) {
  std::vector<Elf64_Dyn> entries;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t i = 0; i < segment.p_filesz / sizeof(Elf64_Dyn) && entries.size() < needed_max; ++i) {
      const auto entry = at<Elf64_Dyn>(file, segment.p_offset + i * sizeof(Elf64_Dyn));
      if (!entry || entry->d_tag == DT_NULL) break;
      entries.push_back(*entry);
    }
  }
  return entries;
}

// What the loader is told of a file.
struct Dynamic {
  std::string_view file;
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Dyn> entries;
  std::uint64_t names = 0;  // where they begin; inside the file

  [[nodiscard]] std::optional<std::string> name(std::uint64_t place) const {
    if (place >= file.size() - names) return std::nullopt;
    const std::string_view text = file.substr(names + place);
    return std::string(text.substr(0, std::min(text.find('\0'), std::size_t{limits::name_length_max})));
  }
};

std::optional<Dynamic> dynamic_of(std::string_view file) {
  const auto head = at<Elf64_Ehdr>(file, 0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
      head->e_ident[EI_DATA] != ELFDATA2LSB)
    return std::nullopt;
  Dynamic dynamic{file, segments_of(file, *head), {}, 0};
  dynamic.entries = dynamic_entries(file, dynamic.segments);
  std::optional<std::uint64_t> names;
  for (const Elf64_Dyn& entry : dynamic.entries)
    if (entry.d_tag == DT_STRTAB) names = offset_of(entry.d_un.d_ptr, dynamic.segments);
  if (!names || *names > file.size()) return std::nullopt;
  dynamic.names = *names;
  return dynamic;
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
                                      const std::vector<SymbolVersion>& versions,
                                      const std::map<std::string, std::string>& brought) {
  for (const SymbolVersion& each : versions) {
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

std::vector<std::string> needed_libraries(std::string_view file) {
  const auto dynamic = dynamic_of(file);
  if (!dynamic) return {};
  std::vector<std::string> needed;
  for (const Elf64_Dyn& entry : dynamic->entries) {
    if (entry.d_tag != DT_NEEDED) continue;
    const auto name = dynamic->name(entry.d_un.d_val);
    if (!name) return needed;
    needed.push_back(*name);
  }
  return needed;
}

std::vector<SymbolVersion> needed_versions(std::string_view file) {
  const auto dynamic = dynamic_of(file);
  if (!dynamic) return {};
  std::optional<std::uint64_t> table;
  for (const Elf64_Dyn& entry : dynamic->entries)
    if (entry.d_tag == DT_VERNEED) table = offset_of(entry.d_un.d_ptr, dynamic->segments);
  std::vector<SymbolVersion> versions;
  std::uint64_t from = table.value_or(file.size());
  for (std::size_t libraries = 0; libraries < needed_max; ++libraries) {
    const auto library = at<Elf64_Verneed>(file, from);
    const auto name = library ? dynamic->name(library->vn_file) : std::nullopt;
    if (!name) return versions;
    std::uint64_t each = from + library->vn_aux;
    for (int i = 0; i < library->vn_cnt && versions.size() < needed_max; ++i) {
      const auto symbol = at<Elf64_Vernaux>(file, each);
      const auto version = symbol ? dynamic->name(symbol->vna_name) : std::nullopt;
      if (!version) return versions;
      versions.push_back({*name, *version});
      if (symbol->vna_next == 0) break;
      each += symbol->vna_next;
    }
    if (library->vn_next == 0) return versions;
    from += library->vn_next;
  }
  return versions;
}

std::string needed_loader(std::string_view file) {
  const auto head = at<Elf64_Ehdr>(file, 0);
  if (!dynamic_of(file) || !head) return {};
  for (const Elf64_Phdr& segment : segments_of(file, *head)) {
    if (segment.p_type != PT_INTERP || segment.p_offset > file.size()) continue;
    const std::string_view text = file.substr(segment.p_offset, segment.p_filesz);
    return std::string(text.substr(0, std::min(text.find('\0'), std::size_t{limits::name_length_max})));
  }
  return {};
}

Result<SystemNeeds> system_needs(const io::Files& files, const io::Path& bundle,
                                 const std::vector<std::string>& on_server) {
  std::map<std::string, std::string> there;                 // files by their names alone
  std::map<std::string, std::vector<std::string>> needed;   // by file
  std::map<std::string, std::vector<SymbolVersion>> asked;  // by file
  std::map<std::string, std::string> loaders;               // by file
  std::error_code failure;
  for (std::filesystem::recursive_directory_iterator entry(bundle, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    std::error_code unknown;
    if (!entry->is_regular_file(unknown)) continue;
    const std::string file = entry->path().lexically_relative(bundle).string();
    TRY_ASSIGN(const Bytes bytes, files.read(entry->path(), limits::bundle_bytes_max));
    needed[file] = needed_libraries(bytes);
    asked[file] = needed_versions(bytes);
    loaders[file] = needed_loader(bytes);
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

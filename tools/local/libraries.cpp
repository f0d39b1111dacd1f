#include "tools/local/libraries.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "shared/base/limits.h"

namespace gleaner::local {
namespace {

constexpr std::size_t needed_max = 1000;
// The last one is what a client itself is linked with.
constexpr std::array system_libraries{"libc.so.6",
                                      "libm.so.6",
                                      "libpthread.so.0",
                                      "libdl.so.2",
                                      "librt.so.1",
                                      "libgcc_s.so.1",
                                      "libstdc++.so.6",
                                      "ld-linux-x86-64.so.2",
                                      "ld-linux-aarch64.so.1",
                                      "libz.so.1"};

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

}  // namespace

std::vector<std::string> needed_libraries(std::string_view file) {
  const auto head = at<Elf64_Ehdr>(file, 0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
      head->e_ident[EI_DATA] != ELFDATA2LSB)
    return {};
  const auto segments = segments_of(file, *head);
  const auto entries = dynamic_entries(file, segments);
  std::optional<std::uint64_t> names;
  for (const Elf64_Dyn& entry : entries)
    if (entry.d_tag == DT_STRTAB) names = offset_of(entry.d_un.d_ptr, segments);
  std::vector<std::string> needed;
  if (!names || *names > file.size()) return needed;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != DT_NEEDED) continue;
    if (entry.d_un.d_val >= file.size() - *names) return needed;
    const std::string_view name = file.substr(*names + entry.d_un.d_val);
    needed.emplace_back(name.substr(0, std::min(name.find('\0'), std::size_t{limits::name_length_max})));
  }
  return needed;
}

Result<std::vector<MissingLibrary>> missing_libraries(const io::Files& files, const io::Path& bundle,
                                                      const std::string& manager) {
  std::map<std::string, std::string> there;                // files by their names alone
  std::map<std::string, std::vector<std::string>> needed;  // by file
  std::error_code failure;
  for (std::filesystem::recursive_directory_iterator entry(bundle, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    std::error_code unknown;
    if (!entry->is_regular_file(unknown)) continue;
    const std::string file = entry->path().lexically_relative(bundle).string();
    TRY_ASSIGN(const Bytes bytes, files.read(entry->path(), limits::bundle_bytes_max));
    needed[file] = needed_libraries(bytes);
    there[entry->path().filename().string()] = file;
  }
  if (failure)
    return Error{ErrorKind::io, "cannot look through " + bundle.string() + ": " + failure.message()};
  std::vector<std::string> waiting;
  for (const auto& [file, libraries] : needed)
    if (file != manager && file.find(".so") == std::string::npos) waiting.push_back(file);
  std::set<std::string> seen(waiting.begin(), waiting.end());
  std::vector<MissingLibrary> missing;
  for (std::size_t next = 0; next < waiting.size(); ++next) {
    const std::string file = waiting[next];
    for (const std::string& library : needed[file]) {
      const auto own = there.find(library);
      if (own == there.end()) {
        if (std::find(system_libraries.begin(), system_libraries.end(), library) == system_libraries.end())
          missing.push_back({file, library});
      } else if (seen.insert(own->second).second) {
        waiting.push_back(own->second);
      }
    }
  }
  return missing;
}

}  // namespace gleaner::local

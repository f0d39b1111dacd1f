#include "shared/sandbox/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "shared/base/limits.h"

namespace gleaner::sandbox {
namespace {

constexpr std::size_t needed_max = 1000;

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

}  // namespace gleaner::sandbox

#include "apps/wrap/wrapping.h"

#include <algorithm>

#include "apps/kit/packing.h"
#include "shared/base/limits.h"

namespace gleaner::wrap {
namespace {

constexpr std::int64_t command_bytes_max = 64 << 10;

// FNV-1a, 64 bits (Fowler, Noll, Vo): against accidents and mix-ups, not against forgery.
std::uint64_t fnv(std::uint64_t state, std::string_view bytes) {
  for (const char c : bytes) {
    state ^= static_cast<unsigned char>(c);
    state *= 0x100000001b3;
  }
  return state;
}

std::uint64_t check_of(const std::string& name, std::string_view content) {
  const std::uint64_t state = fnv(0xcbf29ce484222325, name);
  return fnv(fnv(state, std::string_view("\0", 1)), content);
}

}  // namespace

Result<Command> read_command(const std::filesystem::path& self) {
  const auto bundle = std::filesystem::absolute(self).parent_path().parent_path();
  TRY_ASSIGN(const Bytes text, kit::read_file(bundle / "wrap.command", command_bytes_max));
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (lines.size() < 2 || lines[1].empty())
    return Error{ErrorKind::invalid, "wrap.command names no program: sign the bundle again"};
  Command command;
  command.suffix = lines[0];
  command.program = bundle / lines[1];
  command.arguments.assign(lines.begin() + 2, lines.end());
  return command;
}

Result<std::vector<std::string>> read_inputs(const kit::Problem& problem) {
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(problem.directory() / "inputs", failure), end;
       !failure && entry != end && std::cmp_less(names.size(), limits::inputs_max); entry.increment(failure))
    names.push_back(entry->path().filename().string());
  if (names.empty())
    return Error{ErrorKind::invalid, "there is no input: give files with --input NAME=FILE, one an item"};
  std::sort(names.begin(), names.end());
  return names;
}

Bytes seal(const std::string& name, std::string_view content) {
  Bytes item;
  item.reserve(content.size() + sizeof(std::uint64_t));
  kit::pack(item, check_of(name, content));
  return item.append(content);
}

Result<std::string_view> unseal(const std::string& name, std::string_view item) {
  kit::Unpacker unpacker(item);
  const auto check = unpacker.get<std::uint64_t>();
  const std::string_view content = unpacker.take(unpacker.left());
  if (!unpacker.complete() || check != check_of(name, content))
    return Error{ErrorKind::invalid, "it is not what the program made of " + name};
  return content;
}

}  // namespace gleaner::wrap

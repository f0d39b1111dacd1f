#include "tools/local/templates.h"

#include <algorithm>
#include <filesystem>

#include "shared/base/limits.h"

namespace gleaner::local {
namespace {

constexpr std::int64_t template_bytes_max = 1 << 20;
constexpr std::string_view name_word = "@NAME@";

std::string named(std::string text, const std::string& name) {
  for (std::size_t at = text.find(name_word); at != std::string::npos;
       at = text.find(name_word, at + name.size()))
    text.replace(at, name_word.size(), name);
  return text;
}

}  // namespace

Status check_application_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= limits::name_length_max && name.front() >= 'a' &&
                    name.front() <= 'z' && std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
                    });
  if (good) return {};
  return Error{ErrorKind::invalid, "\"" + name +
                                       "\" is no application's name: a-z first, then a-z, 0-9 and '-', "
                                       "at most 64"};
}

const std::vector<std::string>& languages() {
  static const std::vector<std::string> all{"c++", "python", "c"};
  return all;
}

Result<std::vector<std::string>> make_application(io::Files& files, const io::Path& templates,
                                                  const std::string& language, const std::string& name,
                                                  const io::Path& into) {
  namespace fs = std::filesystem;
  TRY(check_application_name(name));
  const io::Path source = templates / language;
  if (!files.exists(source))
    return Error{ErrorKind::not_found,
                 source.string() + " is missing: it comes with gleaner-admin; install it anew"};
  if (files.exists(into))
    return Error{ErrorKind::conflict, into.string() + " is there already: remove it, or say -o"};
  std::vector<std::string> made;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(source, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (!entry->is_regular_file(failure)) continue;
    const io::Path relative = entry->path().lexically_relative(source);
    TRY_ASSIGN(const Bytes text, files.read(entry->path(), template_bytes_max));
    const bool executable = (entry->status(failure).permissions() & fs::perms::owner_exec) != fs::perms::none;
    TRY(files.make_directories((into / relative).parent_path()));
    TRY(files.write(into / relative, named(text, name),
                    executable ? io::Mode::executable : io::Mode::normal));
    made.push_back(relative.string());
  }
  if (failure) return Error{ErrorKind::io, "cannot read " + source.string() + ": " + failure.message()};
  std::sort(made.begin(), made.end());
  return made;
}

}  // namespace gleaner::local

#include "tools/local/remedies.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "shared/bundle/wrap.h"
#include "shared/json/text.h"

namespace gleaner::local {
namespace {

constexpr std::size_t paths_max = 100;
constexpr const char* reported_modules[] = {"numpy", "pandas", "scipy"};  // client/platform/interpreters.cpp
// Where a kernel has what is its own.
constexpr const char* own_places[] = {"/app", "/slot", "/problem", "/problems", "/proc", "/dev", "/tmp"};
constexpr std::string_view absences[] = {"No such file", "not found",  "not exist",
                                         "annot open",   "annot find", "annot read"};
constexpr std::string_view breaks = " \t\r\n'\"`:;,()<>=";  // beside a path in a sentence

// What stands after `before`, up to `end`.
std::string_view after(std::string_view words, std::string_view before, std::string_view end) {
  const auto found = words.find(before);
  if (found == std::string_view::npos) return {};
  words.remove_prefix(found + before.size());
  return words.substr(0, words.find_first_of(end));
}

std::string module_remedy(const LocalBundle& bundle, const std::string& module) {
  const std::string top = module.substr(0, module.find('.'));
  const bool reported = std::ranges::find(reported_modules, top) != std::end(reported_modules);
  if (bundle.modules() == contract::Modules::declared && !reported)
    return "this computer lacks " + top + ", too: take its files along beside the kernel";
  std::vector<std::string> needs = bundle.manifest.needs;
  const std::string need = reported ? top : "python-packages";
  if (std::ranges::find(needs, need) != needs.end()) return {};  // it is said how to install it here
  const auto names_python = [](const std::string& each) {
    return each.starts_with("python>") || each.starts_with("python=");
  };
  if (std::ranges::none_of(needs, names_python)) needs.insert(needs.begin(), "python>=3.9");
  needs.push_back(need);
  std::string text;
  for (const std::string& each : needs) text += (text.empty() ? "" : ", ") + json::write(each);
  const std::string declare = "declare it in the manifest: needs = [" + text + "]";
  return reported
             ? declare + ", so that only hosts that have it get work; or take its files along"
             : "take its files along beside the kernel; or, where you install it on the hosts yourself, " +
                   declare;
}

// The first absolute path of a file that is here, and that a kernel does not find.
std::string file_in(const LocalBundle& bundle, std::string_view words) {
  std::vector<io::Path> seen(std::begin(own_places), std::end(own_places));
  seen.push_back(bundle.directory);
  for (const sandbox::RuntimeFile& file : sandbox::runtime_files(bundle.kernel, bundle.kernel_runtime()))
    if (!file.hidden) seen.push_back(file.path);
  std::size_t from = 0;
  for (std::size_t tries = 0; tries < paths_max; ++tries) {
    from = words.find('/', from);
    if (from == std::string_view::npos) return {};
    const bool inside_word = from > 0 && breaks.find(words[from - 1]) == std::string_view::npos;
    const auto end = std::min(words.find_first_of(breaks, from), words.size());
    const io::Path path(std::string(words.substr(from, end - from)));
    from = std::max(end, from + 1);
    const auto is_below = [&](const io::Path& place) {
      return path == place || path.string().starts_with(place.string() + "/");
    };
    std::error_code unknown;
    if (!inside_word && std::ranges::none_of(seen, is_below) && path.has_filename() &&
        path.parent_path() != "/" && std::filesystem::exists(path, unknown))
      return path.string();
  }
  return {};
}

}  // namespace

std::string library_remedy(const LocalBundle& bundle) {
  std::error_code unknown;
  const bool packed = std::filesystem::exists(bundle.directory / "lib", unknown);
  return bundle::is_completed(bundle.manifest)
             ? packed ? "take it along: `app wrap --library FILE`"
                      : "take it along: `app wrap --bundle-libraries`"
             : "link it statically, or put the library into the bundle where the program finds it "
               "(`ldd`, `patchelf --set-rpath '$ORIGIN'`)";
}

std::string remedy_for(const LocalBundle& bundle, std::string_view words) {
  if (const auto module = after(words, "No module named '", "'"); !module.empty())
    return module_remedy(bundle, std::string(module));
  if (words.find("cannot open shared object file") != std::string_view::npos) return library_remedy(bundle);
  const auto is_told = [&](std::string_view absence) {
    return words.find(absence) != std::string_view::npos;
  };
  if (std::ranges::none_of(absences, is_told)) return {};
  const std::string file = file_in(bundle, words);
  if (file.empty()) return {};
  return "volunteers' computers do not have " + file + ": take it along" +
         (bundle::is_completed(bundle.manifest) ? " with `app wrap --data`, and name it as {bundle}/NAME"
                                                : " in the bundle");
}

}  // namespace gleaner::local

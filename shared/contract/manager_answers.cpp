#include "shared/contract/manager_answers.h"

#include <algorithm>
#include <filesystem>

#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/base/words.h"
#include "shared/protocol/text.h"

namespace gleaner::contract {
namespace {

const char* const path_expected =
    "the path of a file in its working directory that exists, relative and without \"..\"";

}  // namespace

bool is_file_name(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.size() > limits::file_name_length_max) return false;
  if (protocol::clean_line(name, name.size()) != name) return false;
  return name.find_first_of("/ \\") == std::string_view::npos;
}

io::Path resolve_in(const io::Path& work, std::string_view relative) {
  const io::Path path = utf8_path(relative);
  if (relative.empty() || relative.find('\0') != std::string_view::npos || path.is_absolute()) return {};
  if (std::find(path.begin(), path.end(), "..") != path.end()) return {};
  std::error_code fault;
  const io::Path base = std::filesystem::canonical(work, fault);
  if (fault) return {};
  const io::Path full = std::filesystem::canonical(base / path, fault);
  if (fault || !std::filesystem::is_regular_file(full, fault)) return {};
  const auto [in_base, in_full] = std::mismatch(base.begin(), base.end(), full.begin(), full.end());
  return in_base == base.end() && in_full != full.end() ? full : io::Path{};
}

Hearing PlanAnswer::take(std::string_view line) {
  Words words(line);
  const std::string_view word = words.next();
  if (plan_.items == 0) {
    if (line == "end") {
      plan_.end = true;
      return Heard::end;
    }
    const auto items = words.number();
    if (word != "items" || !items || *items == 0 || !words.ended())
      return Fault{"end, or items N with N of at least 1"};
    plan_.items = *items;
    return Heard::more;
  }
  if (line == "ok") return Heard::end;
  if (word == "name") {
    plan_.name = protocol::clean_line(words.rest(), limits::name_length_max);
    return Heard::more;
  }
  if (word == "hints") {
    plan_.hints = resolve_in(work_, words.rest());
    if (plan_.hints.empty()) return Fault{std::string("hints and ") + path_expected};
    return Heard::more;
  }
  if (word == "ahead") {
    const auto cost = words.fraction(limits::cost_ahead_max);
    if (!cost || !words.ended()) return Fault{"ahead COST, a number that is not negative"};
    plan_.ahead = *cost;
    return Heard::more;
  }
  if (word == "input") return take_input(words.rest());
  return Fault{"name, hints, ahead, input or ok"};
}

Hearing PlanAnswer::take_input(std::string_view text) {
  Words words(text);
  PlannedInput input;
  input.name = words.next();
  const std::string_view path = words.next();
  if (!is_file_name(input.name)) return Fault{"input NAME PATH [BEGIN END], NAME a file's name"};
  if (!words.ended()) {
    input.range = words.range();
    if (!input.range || !words.ended()) return Fault{"input NAME PATH [BEGIN END]"};
  }
  input.path = resolve_in(work_, path);
  if (input.path.empty()) return Fault{std::string("input NAME and ") + path_expected};
  if (plan_.inputs.size() == static_cast<std::size_t>(limits::inputs_max))
    return Fault{"at most " + std::to_string(limits::inputs_max) + " inputs"};
  const bool known = std::any_of(plan_.inputs.begin(), plan_.inputs.end(),
                                 [&](const PlannedInput& other) { return other.name == input.name; });
  if (known) return Fault{"a name that no other input of the stage has"};
  plan_.inputs.push_back(std::move(input));
  return Heard::more;
}

Hearing CombineAnswer::take(std::string_view line) {
  if (line == "ok") return Heard::end;
  Words words(line);
  const std::string_view word = words.next();
  if (word == "progress") {
    const auto fraction = words.fraction(1);
    if (!fraction || !words.ended()) return Fault{"progress FRACTION, from 0 to 1"};
    fraction_ = *fraction;
    return Heard::progress;
  }
  if (word == "result") return take_result(words.rest());
  return Fault{"progress, result or ok"};
}

Hearing CombineAnswer::take_result(std::string_view text) {
  Words words(text);
  CombinedFile file;
  file.name = words.next();
  file.path = resolve_in(work_, words.next());
  file.media_type = words.rest();
  if (!is_file_name(file.name)) return Fault{"result NAME PATH MEDIATYPE, NAME a file's name"};
  if (file.path.empty()) return Fault{std::string("result NAME and ") + path_expected};
  const bool fits = file.media_type.size() <= static_cast<std::size_t>(limits::file_name_length_max);
  if (!fits || file.media_type.find('/') == std::string::npos ||
      protocol::clean_line(file.media_type, file.media_type.size()) != file.media_type)
    return Fault{"result NAME PATH MEDIATYPE, MEDIATYPE for example image/png"};
  if (files_.size() == static_cast<std::size_t>(limits::inputs_max))
    return Fault{"at most " + std::to_string(limits::inputs_max) + " results"};
  const bool known = std::any_of(files_.begin(), files_.end(),
                                 [&](const CombinedFile& other) { return other.name == file.name; });
  if (known) return Fault{"a name that no other result has"};
  files_.push_back(std::move(file));
  return Heard::more;
}

}  // namespace gleaner::contract

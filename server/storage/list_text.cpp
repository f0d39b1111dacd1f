#include "server/storage/list_text.h"

#include <algorithm>

#include "shared/base/utf8.h"
#include "shared/json/text.h"

namespace gleaner::storage {
namespace {

// A name must come back as it went in, which bytes that are not UTF-8 would not.
Result<std::string> text_of(const json::Value& list, bool clean) {
  if (!clean) return Error{ErrorKind::invalid, "a name is not valid UTF-8: rename it"};
  return json::write(list, {-1, true});
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

json::Value range_json(Range range) {
  return json::Value::array({range.begin, range.end});
}

bool read(const json::Value& value, std::string& into) {
  if (!value.is_string()) return false;
  into = value.string();
  return true;
}

bool read(const json::Value& value, Range& into) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_integer() || !value[1].is_integer())
    return false;
  into = {value[0].integer(), value[1].integer()};
  return true;
}

bool read(const json::Value& value, protocol::Input& into) {
  if (!value.is_object() || !value.contains("name") || !value.contains("digest") || !value.contains("bytes"))
    return false;
  if (!read(value["name"], into.name) || !read(value["digest"], into.digest)) return false;
  if (!value["bytes"].is_integer()) return false;
  into.bytes = value["bytes"].integer();
  if (value.contains("range") && !read(value["range"], into.range.emplace())) return false;
  return true;
}

template <typename Element>
bool read_list(std::string_view text, std::vector<Element>& list) {
  const json::Value parsed = json::parse_or_null(text);
  if (!parsed.is_array()) return false;
  list.clear();
  for (const json::Value& value : parsed.elements()) {
    if (!read(value, list.emplace_back())) return false;
  }
  return true;
}

}  // namespace

Result<std::string> to_text(const std::vector<std::string>& list) {
  return text_of(list, std::all_of(list.begin(), list.end(), is_utf8));
}

Result<std::string> to_text(const std::vector<protocol::Input>& list) {
  json::Value array = json::Value::array();
  bool clean = true;
  for (const auto& input : list) {
    clean = clean && is_utf8(input.name) && is_utf8(input.digest);
    json::Value value = {{"name", input.name}, {"digest", input.digest}, {"bytes", input.bytes}};
    if (input.range) value["range"] = range_json(*input.range);
    array.push_back(std::move(value));
  }
  return text_of(array, clean);
}

Result<std::string> to_text(const std::vector<Range>& list) {
  json::Value array = json::Value::array();
  for (const Range range : list) array.push_back(range_json(range));
  return json::write(array);
}

bool from_text(std::string_view text, std::vector<std::string>& list) {
  return read_list(text, list);
}
bool from_text(std::string_view text, std::vector<protocol::Input>& list) {
  return read_list(text, list);
}
bool from_text(std::string_view text, std::vector<Range>& list) {
  return read_list(text, list);
}

}  // namespace gleaner::storage

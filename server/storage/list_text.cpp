#include "server/storage/list_text.h"

#include <nlohmann/json.hpp>

namespace gleaner::storage {
namespace {

using nlohmann::json;

Result<std::string> text_of(const json& list) {
  try {
    return list.dump();
  } catch (const json::exception&) {
    return Error{ErrorKind::invalid, "a name is not valid UTF-8: rename it"};
  }
}

json range_json(Range range) {
  return json::array({range.begin, range.end});
}

bool read(const json& value, std::string& into) {
  if (!value.is_string()) return false;
  into = value.get<std::string>();
  return true;
}

bool read(const json& value, Range& into) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_number_integer() ||
      !value[1].is_number_integer())
    return false;
  into = {value[0].get<std::int64_t>(), value[1].get<std::int64_t>()};
  return true;
}

bool read(const json& value, protocol::Input& into) {
  if (!value.is_object() || !value.contains("name") || !value.contains("digest") || !value.contains("bytes"))
    return false;
  if (!read(value["name"], into.name) || !read(value["digest"], into.digest)) return false;
  if (!value["bytes"].is_number_integer()) return false;
  into.bytes = value["bytes"].get<std::int64_t>();
  if (value.contains("range") && !read(value["range"], into.range.emplace())) return false;
  return true;
}

template <typename Element>
bool read_list(std::string_view text, std::vector<Element>& list) {
  const json parsed = json::parse(text, nullptr, false);
  if (!parsed.is_array()) return false;
  list.clear();
  for (const json& value : parsed) {
    if (!read(value, list.emplace_back())) return false;
  }
  return true;
}

}  // namespace

Result<std::string> to_text(const std::vector<std::string>& list) {
  return text_of(json(list));
}

Result<std::string> to_text(const std::vector<protocol::Input>& list) {
  json array = json::array();
  for (const auto& input : list) {
    json value = {{"name", input.name}, {"digest", input.digest}, {"bytes", input.bytes}};
    if (input.range) value["range"] = range_json(*input.range);
    array.push_back(std::move(value));
  }
  return text_of(array);
}

Result<std::string> to_text(const std::vector<Range>& list) {
  json array = json::array();
  for (const Range range : list) array.push_back(range_json(range));
  return text_of(array);
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

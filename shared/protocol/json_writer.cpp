#include "shared/protocol/json_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "shared/base/encoding.h"
#include "shared/protocol/text.h"

namespace gleaner::protocol::json {

void JsonWriter::begin_field(const char* name) {
  if (text_.back() != '{') text_ += ',';
  text_ += '"';
  text_ += name;
  text_ += "\":";
}

void JsonWriter::write_leaf(double value, const Number&) {
  text_ += nlohmann::json(value).dump();
}

void JsonWriter::write_leaf(const std::string& value, Prose) {
  write_text(clean_text(value, limits::message_length_max));
}

void JsonWriter::write_leaf(const std::string& value, const Raw&) {
  text_ += '"';
  text_ += to_base64url(value);
  text_ += '"';
}

void JsonWriter::write_text(std::string_view value) {
  const bool simple = std::all_of(value.begin(), value.end(),
                                  [](char c) { return c >= ' ' && c < 0x7F && c != '"' && c != '\\'; });
  if (!simple) {  // escapes, UTF-8 and its faults are the library's business
    text_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return;
  }
  text_ += '"';
  text_ += value;
  text_ += '"';
}

}  // namespace gleaner::protocol::json

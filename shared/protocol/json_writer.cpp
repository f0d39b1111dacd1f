#include "shared/protocol/json_writer.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>

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
  if (!std::isfinite(value)) {
    text_ += "null";
    return;
  }
  char text[32];
  const double number = value == 0 ? 0 : value;  // no "-0"
  text_.append(text, std::to_chars(text, text + sizeof text, number).ptr);
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
  if (!simple) {
    text_ += boost::json::serialize(boost::json::string_view(repair_utf8(value)));
    return;
  }
  text_ += '"';
  text_ += value;
  text_ += '"';
}

}  // namespace gleaner::protocol::json

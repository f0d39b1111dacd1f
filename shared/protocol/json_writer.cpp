#include "shared/protocol/json_writer.h"

#include <charconv>

#include "shared/base/encoding.h"
#include "shared/protocol/text.h"

namespace gleaner::protocol::codec {

void JsonWriter::begin_field(const char* name) {
  if (text_.back() != '{' && text_.back() != '[') text_ += ',';
  if (row_) return;
  text_ += '"';
  text_ += name;
  text_ += "\":";
}

void JsonWriter::write_leaf(std::int64_t value, const Whole&) {
  char text[24];
  text_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void JsonWriter::write_leaf(double value, const Number& kind) {
  char text[32];
  const double kept = within(value, kind);
  const double number = kept == 0 ? 0 : kept;  // no "-0"
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

}  // namespace gleaner::protocol::codec

// encode() and decode() in terms of a message's field list; the codec_*.cpp instantiate them. Internal to
// this room.
#pragma once

#include <boost/json/value.hpp>

#include "shared/protocol/codec.h"
#include "shared/protocol/json_reader.h"
#include "shared/protocol/json_text.h"
#include "shared/protocol/json_writer.h"

namespace gleaner::protocol {

namespace json {

template <typename Archive, typename Message>
void visit_root(Archive& archive, Message& message) {
  if constexpr (is_list<std::remove_const_t<Message>>)
    archive("items", message, List{limits::list_length_max});
  else
    visit(archive, message);
}

}  // namespace json

template <typename Message>
std::string encode(const Message& message) {
  json::JsonWriter writer;
  writer.open();
  writer("version", version, json::Whole{});
  json::visit_root(writer, message);
  writer.close();
  return writer.take();
}

template <typename Message>
Result<Message> decode(std::string_view text) {
  constexpr const char* title = json::title<Message>;
  static_assert(title != nullptr);
  const json::TextBounds bounds{limits::json_message_bytes_max, json::values_max<Message>};
  TRY_ASSIGN(const boost::json::value tree, json::parse_text(text, bounds, title));
  json::JsonReader reader(tree, title);
  Message message;
  reader.check_version();
  if (!reader.failed()) json::visit_root(reader, message);
  if (reader.failed()) return Error{ErrorKind::invalid, reader.failure()};
  return message;
}

}  // namespace gleaner::protocol

#define GLEANER_INSTANTIATE_CODEC(Message)     \
  template std::string encode(const Message&); \
  template Result<Message> decode(std::string_view)

// encode() and decode() in terms of a message's field list; the codec_*.cpp instantiate them. Internal to
// this module.
#pragma once

#include "shared/json/text.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/json_reader.h"
#include "shared/protocol/json_writer.h"

namespace gleaner::protocol {

namespace codec {

template <typename Archive, typename Message>
void visit_root(Archive& archive, Message& message) {
  if constexpr (is_list<std::remove_const_t<Message>>)
    archive("items", message, List{limits::list_length_max});
  else
    visit(archive, message);
}

}  // namespace codec

template <typename Message>
std::string encode(const Message& message) {
  codec::JsonWriter writer;
  writer.open();
  writer("version", version, codec::Whole{});
  codec::visit_root(writer, message);
  writer.close();
  return writer.take();
}

template <typename Message>
Result<Message> decode(std::string_view text) {
  constexpr const char* title = codec::title<Message>;
  static_assert(title != nullptr);
  const auto tree = json::parse(text, {limits::json_message_bytes_max, codec::values_max<Message>});
  if (!tree.ok()) return tree.error().within(title);
  codec::JsonReader reader(*tree, title);
  Message message;
  reader.check_version();
  if (!reader.failed()) codec::visit_root(reader, message);
  if (reader.failed()) return Error{ErrorKind::invalid, reader.failure()};
  return message;
}

}  // namespace gleaner::protocol

#define GLEANER_INSTANTIATE_CODEC(Message)     \
  template std::string encode(const Message&); \
  template Result<Message> decode(std::string_view)

#include "shared/protocol/packer.h"

#include <bit>
#include <cstring>

#include "shared/protocol/text.h"

namespace gleaner::protocol::codec {

static_assert(std::endian::native == std::endian::little);

void Packer::write_whole(std::int64_t value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes_.append(raw, sizeof value);
}

void Packer::write_number(double value) {
  write_whole(std::bit_cast<std::int64_t>(value));
}

void Packer::write_text(std::string_view value) {
  write_whole(static_cast<std::int64_t>(value.size()));
  bytes_.append(value);
}

void Packer::write_name(std::string_view value) {
  write_text(without_invisible(value));
}

void Packer::write_prose(std::string_view value) {
  write_text(value.empty() ? value : clean_text(value, limits::message_length_max));
}

}  // namespace gleaner::protocol::codec

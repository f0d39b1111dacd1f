#include "apps/kit/words.h"

#include "shared/base/limits.h"

namespace gleaner::kit {

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, limits::message_length_max));
  for (char& character : line) {
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) character = ' ';
  }
  return line;
}

}  // namespace gleaner::kit

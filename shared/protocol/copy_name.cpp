#include "shared/protocol/copy_name.h"

#include "shared/base/clean_text.h"
#include "shared/base/limits.h"

namespace gleaner::protocol {

std::string name_of_copy(std::string_view name, HostId host) {
  const std::string number = " (" + std::to_string(host.value) + ")";
  return clean_line(name, limits::name_length_max - number.size()) + number;
}

}  // namespace gleaner::protocol

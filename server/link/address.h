// Where a link is: "unix:/run/gleaner/link.sock", "HOST:PORT" or "[ADDRESS]:PORT". Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"

namespace gleaner::link {

struct Address {
  std::string path;  // of a unix socket; empty: it is TCP
  std::string host;
  int port = 0;
  [[nodiscard]] bool local() const { return !path.empty(); }
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] Result<Address> parse_address(std::string_view text);  // invalid
// Apart by commas; empty: none.
[[nodiscard]] Result<std::vector<Address>> parse_addresses(std::string_view text);

}  // namespace gleaner::link

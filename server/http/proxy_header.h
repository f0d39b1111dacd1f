// What a reverse proxy sends before a connection's first byte to say whose it is: HAProxy's PROXY protocol,
// version 1 (text) and 2 (binary); haproxy.org, doc/proxy-protocol.txt. Pure. The input is not trusted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/result.h"

namespace gleaner::http {

struct ProxyHeader {
  std::size_t bytes = 0;  // that it takes of the connection
  std::string peer;       // an address; empty: the proxy speaks for itself (it looks whether we are well)
};

// A version 2 header with what proxies add to it, such as the name of a client's certificate.
inline constexpr std::size_t proxy_header_bytes_max = 4096;

// Of a connection's first bytes. Nothing: the header goes on. invalid: it is none, or longer than
// proxy_header_bytes_max.
[[nodiscard]] Result<std::optional<ProxyHeader>> parse_proxy_header(std::string_view start);

}  // namespace gleaner::http

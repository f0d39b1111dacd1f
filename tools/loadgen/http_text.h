// Requests as the bytes of HTTP/1.1. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gleaner::loadgen {

// `authority`: HOST:PORT. An empty token: none is sent. An empty body: a GET.
[[nodiscard]] std::string request_text(std::string_view authority, std::string_view path,
                                       std::string_view token, std::string_view body);

}  // namespace gleaner::loadgen

#include "tools/loadgen/http_text.h"

namespace gleaner::loadgen {

std::string request_text(std::string_view authority, std::string_view path, std::string_view token,
                         std::string_view body) {
  std::string text;
  text.reserve(path.size() + authority.size() + token.size() + body.size() + 160);
  text.append(body.empty() ? "GET " : "POST ")
      .append(path)
      .append(" HTTP/1.1\r\nHost: ")
      .append(authority)
      .append("\r\n");
  if (!token.empty()) text.append("Authorization: Bearer ").append(token).append("\r\n");
  if (!body.empty())
    text.append("Content-Type: application/json\r\nContent-Length: ")
        .append(std::to_string(body.size()))
        .append("\r\n");
  return text.append("\r\n").append(body);
}

}  // namespace gleaner::loadgen

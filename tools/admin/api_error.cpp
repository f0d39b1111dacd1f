// Error mapping of api.h.
#include <algorithm>

#include "shared/base/limits.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"
#include "tools/admin/api.h"

namespace gleaner::admin {
namespace {

constexpr std::string_view type_prefix = "urn:gleaner:error:";

ErrorKind kind_of_status(int status) {
  switch (status) {
    case 401:
      return ErrorKind::unauthorized;
    case 403:
      return ErrorKind::forbidden;
    case 404:
    case 410:
      return ErrorKind::not_found;
    case 409:
      return ErrorKind::conflict;
    case 413:
      return ErrorKind::too_large;
    case 429:
    case 502:
    case 503:
    case 504:
      return ErrorKind::unavailable;
    default:
      return status >= 400 && status < 500 ? ErrorKind::invalid : ErrorKind::internal;
  }
}

// The kind that the server names itself, where it is one we know.
ErrorKind kind_of(const protocol::ProblemDocument& document, int status) {
  if (document.type.starts_with(type_prefix)) {
    const std::string name = document.type.substr(type_prefix.size());
    for (int number = static_cast<int>(ErrorKind::invalid); number <= static_cast<int>(ErrorKind::internal);
         ++number) {
      const auto kind = static_cast<ErrorKind>(number);
      if (name == name_of(kind)) return kind;
    }
  }
  return kind_of_status(status);
}

std::string advice_for(ErrorKind kind, const Connection& connection) {
  switch (kind) {
    case ErrorKind::unauthorized:
    case ErrorKind::forbidden:
      return " (the admin token used is in " + connection.token_file.string() +
             "; compare it with the one in the server's admin directory)";
    case ErrorKind::unavailable:
      return " (try again in a while)";
    case ErrorKind::internal:
      return " (see the server's log)";
    case ErrorKind::invalid:
    case ErrorKind::not_found:
    case ErrorKind::conflict:
    case ErrorKind::too_large:
    case ErrorKind::untrusted:
    case ErrorKind::io:
      return "";
  }
  return "";
}

}  // namespace

Error error_of_reply(const io::HttpReply& reply, const Connection& connection) {
  const auto document = protocol::decode<protocol::ProblemDocument>(reply.body);
  if (!document.ok()) {
    const ErrorKind kind = kind_of_status(reply.status);
    return {kind, "the server at " + connection.url + " answered with HTTP status " +
                      std::to_string(reply.status) +
                      " and no explanation: is this the address of a Gleaner server?"};
  }
  const ErrorKind kind = kind_of(*document, reply.status);
  const std::string& words = document->detail.empty() ? document->title : document->detail;
  return {kind, protocol::clean_line(words, limits::message_length_max) + advice_for(kind, connection)};
}

}  // namespace gleaner::admin

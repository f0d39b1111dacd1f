// Error mapping of api.h.
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/error_status.h"
#include "shared/protocol/text.h"
#include "tools/admin/api.h"

namespace gleaner::admin {
namespace {

std::string advice_for(ErrorKind kind, const Connection& connection) {
  switch (kind) {
    case ErrorKind::forbidden:
      return " (the admin token used is in " + connection.token_file.string() + ")";
    case ErrorKind::unauthorized:
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
    case ErrorKind::banned:
      return "";
  }
  return "";
}

}  // namespace

Error error_of_reply(const io::HttpReply& reply, const Connection& connection) {
  const auto document = protocol::decode<protocol::ProblemDocument>(reply.body);
  if (!document.ok()) {
    const ErrorKind kind = protocol::kind_of_status(reply.status);
    return {kind, "the server at " + connection.url + " answered with HTTP status " +
                      std::to_string(reply.status) +
                      " and no explanation: is this the address of a Gleaner server?"};
  }
  const ErrorKind kind = protocol::kind_of_problem(*document, reply.status);
  const std::string& words = document->detail.empty() ? document->title : document->detail;
  return {kind, protocol::clean_line(words, limits::message_length_max) + advice_for(kind, connection)};
}

}  // namespace gleaner::admin

#include "server/http/challenge.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "server/http/server_parser.h"
#include "server/http/server_response.h"

namespace gleaner::http {
namespace {

constexpr std::string_view place = "/.well-known/acme-challenge/";
constexpr std::size_t token_max = 255;  // a file's name; authorities' have 43 characters
constexpr std::int64_t proof_bytes_max = 4096;

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= token_max &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
}

Error failed(const char* what) {
  return {ErrorKind::unavailable, std::string(what) + ": " + std::generic_category().message(errno)};
}

// False: the time is over.
Result<bool> wait_for(int descriptor, short event, SteadyTime end) {
  const double left = to_seconds(end - system_clock().steady());
  pollfd watched{descriptor, event, 0};
  const int ready = left <= 0 ? 0 : poll(&watched, 1, static_cast<int>(left * 1000) + 1);
  if (ready < 0) return failed("cannot wait for the connection");
  return ready > 0;
}

// The answer to the first request; empty: none came.
Result<std::string> hear(int in, const io::Files& files, const io::Path& webroot, SteadyTime end) {
  RequestParser parser;
  std::string input;
  std::array<char, 4096> buffer{};
  while (true) {
    TRY_ASSIGN(const bool ready, wait_for(in, POLLIN, end));
    if (!ready) return std::string();
    const ssize_t count = read(in, buffer.data(), buffer.size());
    if (count < 0) return failed("cannot read the request");
    if (count == 0) return std::string();
    input.append(buffer.data(), static_cast<std::size_t>(count));
    const auto step = parser.feed(input);
    if (step == RequestParser::Step::need_more) continue;
    const Response response = step == RequestParser::Step::refused
                                  ? parser.refusal()
                                  : answer_challenge(parser.request(), files, webroot);
    TRY_ASSIGN(std::string answer, encode_head(response, static_cast<std::int64_t>(response.body.size()),
                                               AfterResponse::close_connection));
    return answer + response.body;
  }
}

}  // namespace

Response answer_challenge(const Request& request, const io::Files& files, const io::Path& webroot) {
  const std::string_view path = request.path;
  if (request.method != "GET" || !path.starts_with(place) || !is_token(path.substr(place.size())))
    return problem(404, "here only proofs for a certificate authority are found");
  auto proof = files.read_plain(webroot / path.substr(1), proof_bytes_max);
  if (!proof.ok()) return problem(404, "there is no such proof");
  return {200, {{"Content-Type", "application/octet-stream"}}, std::move(*proof), {}};
}

Status serve_challenge(int in, int out, const io::Files& files, const io::Path& webroot, Duration patience) {
  const SteadyTime end = system_clock().steady() + patience;
  TRY_ASSIGN(const std::string answer, hear(in, files, webroot, end));
  for (std::string_view rest = answer; !rest.empty();) {
    TRY_ASSIGN(const bool ready, wait_for(out, POLLOUT, end));
    if (!ready) return Error{ErrorKind::unavailable, "who asked does not read the answer"};
    const ssize_t count = write(out, rest.data(), rest.size());
    if (count < 0) return failed("cannot write the answer");
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace gleaner::http

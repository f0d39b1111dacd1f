// Responses as bytes (RFC 9112), and the ones the server makes itself (RFC 9457). Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "server/http/server.h"
#include "shared/base/result.h"

namespace gleaner::http {

// Instead of a number of bytes: of an answer whose length is not known when it begins.
inline constexpr std::int64_t content_in_chunks = -1;
inline constexpr std::int64_t content_until_close = -2;
// Before a chunk of so many bytes, which "\r\n" follows; after the last one.
[[nodiscard]] std::string chunk_head(std::size_t bytes);
inline constexpr const char* last_chunk = "0\r\n\r\n";

enum class AfterResponse { keep_connection, close_connection };

// Status line and header fields up to and with the empty line. Error internal if the response cannot be sent:
// its status is not in 200..599, or a header has characters that would end it.
[[nodiscard]] Result<std::string> encode_head(const Response& response, std::int64_t content_bytes,
                                              AfterResponse after);

// Whether a response with this status carries content (to another method than HEAD).
[[nodiscard]] bool carries_content(int status);

// The value of a Server-Timing header (W3C): how long the answer took here, in milliseconds, the network
// aside.
[[nodiscard]] std::string server_timing(std::chrono::nanoseconds answering);

// application/problem+json. `detail`: for a person; REQUIRES: plain ASCII without quotes and backslashes.
[[nodiscard]] Response problem(int status, const std::string& detail);

// What a peer that speaks plain HTTP to the TLS port gets, whole.
[[nodiscard]] std::string plain_http_answer();

}  // namespace gleaner::http

// One request under way, as libcurl tells of it: gathers the reply within its bounds and sees whether bytes
// still move. Used by http_client.cpp alone, on its thread.
#pragma once

#include <curl/curl.h>

#include <optional>
#include <string>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/io/http_client.h"

namespace gleaner::io {

class HttpTransfer {
 public:
  // `patience`: without a byte in either direction.
  HttpTransfer(const HttpRequest& request, Duration patience, SteadyTime now)
      : request_(request), patience_(patience), begun_(now), moved_at_(now) {}

  HttpReply reply;

  // Why the reply was not taken: it was too large, or request.take failed.
  [[nodiscard]] const std::optional<Error>& refusal() const { return refusal_; }
  // It was ended because nothing moved, or hardly anything; `moved()`: something had before.
  [[nodiscard]] bool stalled() const { return stalled_; }
  [[nodiscard]] bool moved() const { return down_ + up_ + header_bytes_ > 0; }

  // libcurl's callbacks; the last argument is this object.
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self);
  static std::size_t on_send(char* data, std::size_t, std::size_t room, void* self);
  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self);
  static int on_progress(void* self, curl_off_t, curl_off_t down, curl_off_t, curl_off_t up);

 private:
  [[nodiscard]] bool take(std::string_view bytes);
  void add_header(std::string_view line);
  [[nodiscard]] bool still_moves(std::int64_t down, std::int64_t up, SteadyTime now);

  const HttpRequest& request_;
  const Duration patience_;
  const SteadyTime begun_;
  SteadyTime moved_at_;
  std::size_t sent_ = 0;  // of the body, where on_send is asked
  std::int64_t header_bytes_ = 0, down_ = 0, up_ = 0;
  std::optional<Error> refusal_;
  bool stalled_ = false;
};

}  // namespace gleaner::io

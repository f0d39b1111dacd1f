#include "server/objects/sigv4.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

#include "shared/base/check.h"
#include "shared/base/encoding.h"
#include "shared/crypto/keys.h"

namespace gleaner::objects {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

std::string replaced(std::string_view text, std::string_view kept) {
  std::string out;
  for (const char each : text) {
    const bool plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                       (each >= '0' && each <= '9') || kept.find(each) != std::string_view::npos;
    if (plain)
      out += each;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(each));
  }
  return out;
}

Bytes hmac(std::string_view key, std::string_view text) {
  Bytes out(32, '\0');
  unsigned length = 0;
  const auto* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          reinterpret_cast<unsigned char*>(out.data()), &length);
  CHECK_TRUE(done != nullptr && length == out.size());
  return out;
}

std::string date_of(Timestamp now) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
}

std::string scope_of(const std::string& date, const Credentials& credentials) {
  return date.substr(0, 8) + "/" + credentials.region + "/s3/aws4_request";
}

std::string names_of(const Fields& headers) {
  std::string names;
  for (const auto& [name, value] : headers) names += (names.empty() ? "" : ";") + name;
  return names;
}

std::string signature_of(const Unsigned& request, const Fields& headers, std::string_view payload,
                         const Credentials& credentials, const std::string& date) {
  std::string canonical = request.method + "\n" + request.path + "\n" + query_text(request.query) + "\n";
  for (const auto& [name, value] : headers) canonical += name + ":" + value + "\n";
  canonical += "\n" + names_of(headers) + "\n";
  canonical += payload;
  const std::string text = std::string(algorithm) + "\n" + date + "\n" + scope_of(date, credentials) + "\n" +
                           crypto::sha256_hex(canonical);
  Bytes key = hmac("AWS4" + credentials.secret, date.substr(0, 8));
  for (const std::string_view word :
       {std::string_view(credentials.region), std::string_view("s3"), std::string_view("aws4_request")})
    key = hmac(key, word);
  return to_hex(hmac(key, text));
}

}  // namespace

std::string query_text(std::string_view text) {
  return replaced(text, "-._~");
}

std::string path_text(std::string_view text) {
  return replaced(text, "-._~/");
}

std::string query_text(Fields query) {
  for (auto& [name, value] : query) {
    name = query_text(std::string_view(name));
    value = query_text(std::string_view(value));
  }
  std::sort(query.begin(), query.end());
  std::string text;
  for (const auto& [name, value] : query) text += (text.empty() ? "" : "&") + name + "=" + value;
  return text;
}

Fields sign(const Unsigned& request, std::string_view payload, const Credentials& credentials,
            Timestamp now) {
  const std::string date = date_of(now);
  Fields added = {{"x-amz-content-sha256", std::string(payload)}, {"x-amz-date", date}};
  Fields headers = request.headers;
  headers.emplace_back("host", request.host);
  headers.insert(headers.end(), added.begin(), added.end());
  std::sort(headers.begin(), headers.end());
  const std::string signature = signature_of(request, headers, payload, credentials, date);
  added.emplace_back("authorization", std::string(algorithm) + " Credential=" + credentials.id + "/" +
                                          scope_of(date, credentials) +
                                          ",SignedHeaders=" + names_of(headers) + ",Signature=" + signature);
  return added;
}

std::string presign(const Unsigned& request, const Credentials& credentials, Timestamp now, Duration valid) {
  const std::string date = date_of(now);
  Fields headers = request.headers;
  headers.emplace_back("host", request.host);
  std::sort(headers.begin(), headers.end());
  Unsigned whole = request;
  const Fields added = {
      {"X-Amz-Algorithm", std::string(algorithm)},
      {"X-Amz-Credential", credentials.id + "/" + scope_of(date, credentials)},
      {"X-Amz-Date", date},
      {"X-Amz-Expires", std::to_string(std::chrono::duration_cast<std::chrono::seconds>(valid).count())},
      {"X-Amz-SignedHeaders", names_of(headers)}};
  whole.query.insert(whole.query.end(), added.begin(), added.end());
  const std::string signature = signature_of(whole, headers, unsigned_payload, credentials, date);
  return whole.path + "?" + query_text(whole.query) + "&X-Amz-Signature=" + signature;
}

}  // namespace gleaner::objects

#include "shared/protocol/join_code.h"

#include <arpa/inet.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "shared/base/check.h"
#include "shared/protocol/text.h"

namespace gleaner::protocol {
namespace {

constexpr std::string_view scheme = "gleaner://";
constexpr char code_version = 1;
constexpr std::size_t fingerprint_bytes = 32;
constexpr std::size_t secret_bytes = 16;
constexpr std::size_t checksum_bytes = 4;
constexpr std::size_t code_bytes = 1 + fingerprint_bytes + secret_bytes + checksum_bytes;
constexpr std::size_t code_length = (code_bytes * 4 + 2) / 3;
constexpr std::size_t host_length_max = 253;  // of a DNS name
constexpr std::size_t shown_max = 80;

Error wrong(const std::string& what) {
  return {ErrorKind::invalid, "join code: " + what + "; copy it again, whole, as the project shows it"};
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// Letters, digits and hyphens in labels of 1 to 63, not beginning or ending with a hyphen (RFC 1123, 2.1).
bool is_host_name(std::string_view host) {
  if (host.empty() || host.size() > host_length_max) return false;
  while (true) {
    const std::string_view label = host.substr(0, host.find('.'));
    if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
    const bool plain = std::all_of(label.begin(), label.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (!plain) return false;
    if (label.size() == host.size()) return true;
    host.remove_prefix(label.size() + 1);
  }
}

std::string address_of(const std::string& host, int port) {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

// CRC-32 over the address as written and what comes before the checksum, big-endian.
Bytes checksum(std::string_view address, std::string_view rest) {
  uLong crc = crc32(0, Z_NULL, 0);
  for (const std::string_view part : {address, rest})
    crc = crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
  Bytes bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(static_cast<std::uint8_t>(crc >> shift));
  return bytes;
}

// Splits HOST:PORT into `code`.
Status read_address(std::string_view address, JoinCode& code) {
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos || (address.front() == '[' && address[colon - 1] != ']'))
    return wrong("it names no port (expected gleaner://HOST:PORT/...)");
  std::string host = lower_case(address.substr(0, colon));
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host)) return wrong("\"" + clean_line(host, shown_max) + "\" is not an IPv6 address");
  } else if (!is_host_name(host)) {
    return wrong("\"" + clean_line(host, shown_max) + "\" is not a host name or address");
  }
  const std::string_view port = address.substr(colon + 1);
  const auto [end, fault] = std::from_chars(port.data(), port.data() + port.size(), code.port);
  if (fault != std::errc{} || end != port.data() + port.size() || code.port < 1 || code.port > 65'535)
    return wrong("\"" + clean_line(port, shown_max) + "\" is not a port (a whole number from 1 to 65535)");
  code.host = std::move(host);
  return {};
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

std::string JoinCode::base_url() const {
  return "https://" + address_of(host, port);
}

std::string to_text(const JoinCode& code) {
  CHECK_TRUE(code.root_fingerprint.size() == fingerprint_bytes);
  CHECK_TRUE(code.enrolment_secret.size() == secret_bytes);
  const std::string address = address_of(lower_case(code.host), code.port);
  const Bytes rest = code_version + code.root_fingerprint + code.enrolment_secret;
  return std::string(scheme) + address + "/" + to_base64url(rest + checksum(address, rest));
}

Result<JoinCode> parse_join_code(std::string_view typed) {
  std::string_view text = trim(typed);
  if (text.empty()) return wrong("it is empty");
  if (lower_case(text.substr(0, scheme.size())) != scheme)
    return wrong("\"" + clean_line(text, shown_max) + "\" does not begin with gleaner://");
  text.remove_prefix(scheme.size());
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0)
    return wrong("expected gleaner://HOST:PORT/ and a code behind it");
  JoinCode code;
  TRY(read_address(text.substr(0, slash), code));
  const std::string_view letters = text.substr(slash + 1);
  const auto strange = std::find_if(letters.begin(), letters.end(), [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
             c == '_');
  });
  if (strange != letters.end())
    return wrong("\"" +
                 clean_line(letters.substr(static_cast<std::size_t>(strange - letters.begin()), 1), 8) +
                 "\" cannot be part of a code");
  if (letters.size() != code_length)
    return wrong(std::string("the code is too ") + (letters.size() < code_length ? "short" : "long") + " (" +
                 std::to_string(letters.size()) + " characters instead of " + std::to_string(code_length) +
                 ")");
  const auto bytes = from_base64url(letters);
  if (!bytes) return wrong("its last character is mistyped");
  if (bytes->front() != code_version)
    return wrong("it is mistyped at its beginning, or from a newer version of Gleaner than this");
  const Bytes rest = bytes->substr(0, code_bytes - checksum_bytes);
  if (bytes->substr(code_bytes - checksum_bytes) != checksum(address_of(code.host, code.port), rest))
    return wrong("a character of it or of the address is mistyped (its checksum does not match)");
  code.root_fingerprint = rest.substr(1, fingerprint_bytes);
  code.enrolment_secret = rest.substr(1 + fingerprint_bytes);
  return code;
}

}  // namespace gleaner::protocol

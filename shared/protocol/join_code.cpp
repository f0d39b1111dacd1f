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
constexpr char plain_version = 1;
constexpr char fallback_version = 2;
constexpr char public_version = 3;
constexpr char public_fallback_version = 4;
constexpr std::size_t fingerprint_bytes = 32;
constexpr std::size_t secret_bytes = 16;
constexpr std::size_t checksum_bytes = 4;
constexpr std::size_t port_bytes = 2;
constexpr std::size_t host_length_max = 253;  // of a DNS name
constexpr std::size_t code_bytes = 1 + fingerprint_bytes + secret_bytes + checksum_bytes;
constexpr std::size_t fallback_bytes = secret_bytes + port_bytes;  // before its host

constexpr std::size_t letters_of(std::size_t bytes) {
  return (bytes * 4 + 2) / 3;
}
constexpr std::size_t code_length = letters_of(code_bytes);
constexpr std::size_t code_length_max = letters_of(code_bytes + fallback_bytes + host_length_max);
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

Bytes to_bytes(const Fallback& fallback) {
  const auto port = static_cast<std::uint16_t>(fallback.port);
  return fallback.enrolment_secret + static_cast<char>(port >> 8) + static_cast<char>(port & 0xff) +
         lower_case(fallback.host);
}

char version_of(const JoinCode& code) {
  if (!code.fallback) return code.certificate == Certificate::either ? public_version : plain_version;
  return code.fallback->certificate == Certificate::either ? public_fallback_version : fallback_version;
}

// One spelling of each: what is read is written again alike.
std::optional<Fallback> read_fallback(std::string_view bytes) {
  if (bytes.size() <= fallback_bytes) return std::nullopt;
  const auto at = [bytes](std::size_t i) { return static_cast<int>(static_cast<std::uint8_t>(bytes[i])); };
  Fallback fallback;
  fallback.enrolment_secret = Bytes(bytes.substr(0, secret_bytes));
  fallback.port = at(secret_bytes) << 8 | at(secret_bytes + 1);
  fallback.host = std::string(bytes.substr(fallback_bytes));
  const bool named = is_host_name(fallback.host) || is_ipv6(fallback.host);
  if (fallback.port == 0 || !named || lower_case(fallback.host) != fallback.host) return std::nullopt;
  return fallback;
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

JoinCode JoinCode::fallback_code() const {
  CHECK_TRUE(fallback.has_value());
  return {fallback->host, fallback->port,       root_fingerprint, fallback->enrolment_secret,
          std::nullopt,   fallback->certificate};
}

std::string to_text(const JoinCode& code) {
  CHECK_TRUE(code.root_fingerprint.size() == fingerprint_bytes);
  CHECK_TRUE(code.enrolment_secret.size() == secret_bytes);
  CHECK_TRUE(!code.fallback || code.fallback->enrolment_secret.size() == secret_bytes);
  CHECK_TRUE(!code.fallback || code.certificate == Certificate::project);
  const std::string address = address_of(lower_case(code.host), code.port);
  const Bytes rest = version_of(code) + code.root_fingerprint + code.enrolment_secret +
                     (code.fallback ? to_bytes(*code.fallback) : Bytes());
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
  const bool short_one = letters.size() < code_length;
  if (short_one || letters.size() > code_length_max)
    return wrong(std::string("the code is too ") + (short_one ? "short" : "long") + " (" +
                 std::to_string(letters.size()) + " characters instead of " +
                 std::to_string(short_one ? code_length : code_length_max) + ")");
  const auto bytes = from_base64url(letters);
  if (!bytes) return wrong("its last character is mistyped, or characters are missing");
  const char form = bytes->front();
  if (form < plain_version || form > public_fallback_version)
    return wrong("it is mistyped at its beginning, or from a newer version of Gleaner than this");
  const bool plain = form == plain_version || form == public_version;
  if (plain && letters.size() != code_length)
    return wrong("the code is too long (" + std::to_string(letters.size()) + " characters instead of " +
                 std::to_string(code_length) + ")");
  const Bytes rest = bytes->substr(0, bytes->size() - checksum_bytes);
  if (bytes->substr(rest.size()) != checksum(address_of(code.host, code.port), rest))
    return wrong("a character of it or of the address is mistyped (its checksum does not match)");
  code.root_fingerprint = rest.substr(1, fingerprint_bytes);
  code.enrolment_secret = rest.substr(1 + fingerprint_bytes, secret_bytes);
  if (form == public_version) code.certificate = Certificate::either;
  if (plain) return code;
  code.fallback = read_fallback(std::string_view(rest).substr(code_bytes - checksum_bytes));
  if (!code.fallback) return wrong("where its hosts go when the relay is gone cannot be read");
  if (form == public_fallback_version) code.fallback->certificate = Certificate::either;
  return code;
}

}  // namespace gleaner::protocol

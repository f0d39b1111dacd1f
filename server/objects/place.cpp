#include "server/objects/place.h"

#include <algorithm>
#include <sstream>

#include "shared/io/secret_file.h"

namespace gleaner::objects {
namespace {

constexpr std::int64_t credentials_bytes_max = 4096;

bool made_of(std::string_view text, std::string_view others) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char each) {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || (each >= '0' && each <= '9') ||
           others.find(each) != std::string_view::npos;
  });
}

bool is_prefix(std::string_view text) {
  return made_of(text, "-._/") && !text.starts_with('/') && text.find("//") == std::string_view::npos &&
         text.find("..") == std::string_view::npos;
}

// NAME, [IPv6 address], and perhaps :PORT.
bool is_host(std::string_view text) {
  std::size_t end = std::min(text.find(':'), text.size());
  bool named = made_of(text.substr(0, end), "-.");
  if (text.starts_with('[')) {
    end = std::min(text.find(']'), text.size() - 1) + 1;
    named = end > 2 && text[end - 1] == ']' && made_of(text.substr(1, end - 2), ".:");
  }
  const std::string_view port = text.substr(end);
  return named && (port.empty() || (port.size() >= 2 && port.size() <= 6 && port.front() == ':' &&
                                    port.find_first_not_of("0123456789", 1) == std::string_view::npos));
}

void lower(std::string& host) {
  std::transform(host.begin(), host.end(), host.begin(),
                 [](char each) { return each >= 'A' && each <= 'Z' ? static_cast<char>(each + 32) : each; });
}

// curl leaves a scheme's own port out of the header Host, which is signed.
void drop_own_port(Place& place) {
  const std::string_view own = place.scheme == "https" ? ":443" : ":80";
  if (place.host.ends_with(own)) place.host.resize(place.host.size() - own.size());
}

}  // namespace

std::string Place::shown() const {
  return "s3+" + scheme + "://" + host + "/" + bucket +
         (prefix.empty() ? "" : "/" + prefix.substr(0, prefix.size() - 1));
}

Result<Place> parse_place(const std::string& url) {
  const Error wrong{ErrorKind::invalid,
                    "expected s3+https://HOST[:PORT]/BUCKET[/PREFIX] (or s3+http://...), of letters, digits "
                    "and -._"};
  Place place;
  for (const char* scheme : {"https", "http"})
    if (url.starts_with(std::string("s3+") + scheme + "://")) place.scheme = scheme;
  if (place.scheme.empty()) return wrong;
  const std::string rest = url.substr(3 + place.scheme.size() + 3);
  const std::size_t slash = rest.find('/');
  if (slash == std::string::npos) return wrong;
  place.host = rest.substr(0, slash);
  const std::size_t next = std::min(rest.find('/', slash + 1), rest.size());
  place.bucket = rest.substr(slash + 1, next - slash - 1);
  if (next + 1 < rest.size()) place.prefix = rest.substr(next + 1);
  if (!is_host(place.host) || !made_of(place.bucket, "-._")) return wrong;
  if (!place.prefix.empty()) {
    if (!is_prefix(place.prefix)) return wrong;
    if (!place.prefix.ends_with('/')) place.prefix += '/';
  }
  lower(place.host);
  drop_own_port(place);
  return place;
}

Result<std::string> parse_origin(const std::string& url) {
  const Error wrong{ErrorKind::invalid,
                    "expected https://HOST[:PORT] (or http:// and this computer's own 127.0.0.1:PORT)"};
  Place place;
  for (const char* scheme : {"https", "http"})
    if (url.starts_with(std::string(scheme) + "://")) place.scheme = scheme;
  if (place.scheme.empty()) return wrong;
  place.host = url.substr(place.scheme.size() + 3);
  if (place.host.ends_with('/')) place.host.pop_back();
  if (!is_host(place.host)) return wrong;
  const std::string name = place.host.substr(0, place.host.rfind(':'));
  if (place.scheme == "http" && name != "127.0.0.1" && name != "localhost" && name != "[::1]") return wrong;
  lower(place.host);
  drop_own_port(place);
  return place.scheme + "://" + place.host;
}

Result<Credentials> read_credentials(const io::Files& files, const io::Path& path,
                                     const std::string& region) {
  const auto text = io::read_secret_file(files, path, credentials_bytes_max);
  if (!text.ok() && text.error().kind == ErrorKind::not_found)
    return Error{ErrorKind::not_found, path.string() +
                                           " is missing: write the object store's access key id and secret "
                                           "into it, on two lines, and run `chmod 600 " +
                                           path.string() + "`"};
  TRY(text);
  std::istringstream words(*text);
  Credentials credentials{{}, {}, region};
  std::string more;
  if (!(words >> credentials.id >> credentials.secret) || words >> more)
    return Error{ErrorKind::invalid, path.string() +
                                         ": expected two words, the access key's id and its "
                                         "secret"};
  return credentials;
}

}  // namespace gleaner::objects

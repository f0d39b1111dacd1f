#include "tools/admin/profile.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/io/secret_file.h"
#include "shared/protocol/join_code.h"
#include "tools/admin/documents.h"

namespace gleaner::admin {
namespace {

constexpr std::int64_t profile_bytes_max = 16 << 10;
constexpr const char* profile_file = "admin.json";

Result<io::Path> find_profile(const std::string& given, const Outside& outside) {
  const std::string where = given.empty() ? outside.variable("GLEANER_PROJECT").value_or(".") : given;
  const io::Path path(where);
  std::error_code ignored;  // an unreadable directory has no profile that we could read
  if (!std::filesystem::is_directory(path, ignored)) {
    if (outside.files.exists(path)) return path;
    return Error{ErrorKind::not_found,
                 "there is no admin profile " + path.string() +
                     ": name the project's directory with --project or $GLEANER_PROJECT"};
  }
  for (const io::Path& candidate : {path / profile_file, path / "admin" / profile_file})
    if (outside.files.exists(candidate)) return candidate;
  return Error{
      ErrorKind::not_found,
      "there is no " + std::string(profile_file) + " in " + path.string() +
          " or its admin directory: name the directory that `gleaner-server init` made with --project " +
          "or $GLEANER_PROJECT (or copy its admin directory to this machine)"};
}

Result<std::string> read_token(const Outside& outside, const io::Path& path) {
  TRY_ASSIGN(std::string token, io::read_secret_file(outside.files, path, limits::text_length_max));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  const bool plain =
      !token.empty() && std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!plain)
    return Error{ErrorKind::invalid, path.string() +
                                         " does not hold an admin token: it is one line of letters, " +
                                         "digits and signs, as `gleaner-server init` wrote it"};
  return token;
}

Status check_url(const std::string& url) {
  if (url.starts_with("https://") && url.size() > 8) return {};
  return Error{ErrorKind::invalid, "\"" + url + "\" is not a server's address: it begins with https://"};
}

Status read_profile(const io::Path& path, const Outside& outside, Connection& connection) {
  TRY_ASSIGN(const Bytes text, outside.files.read(path, profile_bytes_max));
  auto profile = parse_profile(text);
  if (!profile.ok()) return profile.error().within(path.string());
  connection.url = profile->url;
  connection.vouchers = {from_hex(profile->root_fingerprint).value_or(""), profile->public_certificate};
  connection.token_file = path.parent_path() / profile->token_file;
  connection.tls_key = profile->tls_key;
  return {};
}

}  // namespace

Result<Connection> find_connection(const ConnectionOptions& options, const Outside& outside) {
  Connection connection;
  const bool complete =
      !options.token_file.empty() && (!options.server.empty() || !options.join_code.empty());
  // A profile may be missing only where nothing of it is needed; if there is one, --server keeps its
  // fingerprint.
  const auto profile = find_profile(options.project, outside);
  if (profile.ok())
    TRY(read_profile(*profile, outside, connection));
  else if (!complete || !options.project.empty())
    return profile.error();
  if (!options.join_code.empty()) {
    TRY_ASSIGN(const std::string given, io::read_secret_argument(options.join_code));
    TRY_ASSIGN(const protocol::JoinCode code, protocol::parse_join_code(given));
    connection.url = code.base_url();
    connection.vouchers = {code.root_fingerprint, code.certificate == protocol::Certificate::either};
    connection.tls_key.clear();
  }
  if (!options.server.empty()) connection.url = options.server;
  if (!options.token_file.empty()) connection.token_file = options.token_file;
  if (connection.vouchers.root_fingerprint.empty()) connection.vouchers = io::any_authority;
  while (connection.url.ends_with('/')) connection.url.pop_back();
  TRY(check_url(connection.url));
  TRY_ASSIGN(connection.token, read_token(outside, connection.token_file));
  return connection;
}

}  // namespace gleaner::admin

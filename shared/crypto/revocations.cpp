#include "shared/crypto/revocations.h"

#include <algorithm>

#include "shared/base/check.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::crypto {
namespace {

Error revoked(const std::string& what, const std::string& reason) {
  return {ErrorKind::untrusted, what + " was revoked by the project's root key" +
                                    (reason.empty() ? std::string() : " (" + reason + ")") +
                                    ": nothing that depends on it is run"};
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

int sign(int value) {
  return value < 0 ? -1 : value > 0 ? 1 : 0;
}

int compare_parts(std::string_view a, std::string_view b) {
  if (!is_number(a) || !is_number(b)) return sign(a.compare(b));
  const auto significant = [](std::string_view digits) {
    return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
  };
  a = significant(a);
  b = significant(b);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return sign(a.compare(b));
}

// Up to `separator`, which goes with it.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

int compare_dotted(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty())
    if (const int order = compare_parts(take(a, '.'), take(b, '.')); order != 0) return order;
  return a.empty() ? (b.empty() ? 0 : -1) : 1;
}

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  std::string_view core_a = take(a, '+');
  std::string_view core_b = take(b, '+');
  const bool early_a = core_a.find('-') != std::string_view::npos;
  const bool early_b = core_b.find('-') != std::string_view::npos;
  const std::string_view release_a = take(core_a, '-');
  const std::string_view release_b = take(core_b, '-');
  if (const int order = compare_dotted(release_a, release_b); order != 0) return order;
  if (early_a != early_b) return early_a ? -1 : 1;
  if (const int order = compare_dotted(core_a, core_b); order != 0) return order;
  return compare_dotted(a, b);
}

Result<Revocations> Revocations::from(const protocol::SignedStatement& statement,
                                      std::string_view root_fingerprint) {
  constexpr auto type = protocol::StatementType::revocations;
  if (!equal_constant_time(fingerprint(statement.key), root_fingerprint))
    return Error{ErrorKind::untrusted,
                 "the revocation list is not signed by this project's root key: it is another project's, or "
                 "forged"};
  TRY(check_signature(statement, type));
  auto list = protocol::decode<protocol::RevocationList>(statement.payload);
  if (!list.ok())
    return Error{ErrorKind::untrusted, "the revocation list cannot be read (" + list.error().message +
                                           "): it may be newer than this program; update it"};
  if (list->project != to_hex(root_fingerprint))
    return Error{ErrorKind::untrusted, "the revocation list belongs to project " + list->project};
  Revocations revocations;
  revocations.content_ = std::make_shared<const Content>(Content{std::move(*list), statement});
  return revocations;
}

Status Revocations::check_key(std::string_view key, std::string_view what) const {
  if (!content_) return {};
  for (const auto& one : content_->list.keys)
    if (one.key == key)
      return revoked("the " + std::string(what) + " " + to_hex(key).substr(0, 16) + "...", one.reason);
  return {};
}

Status Revocations::check_tls_key(std::string_view digest) const {
  if (!content_) return {};
  for (const auto& one : content_->list.tls_keys)
    if (one.digest == digest) return revoked("the server's TLS key", one.reason);
  return {};
}

Status Revocations::check_application(const protocol::ApplicationStatement& application) const {
  if (!content_) return {};
  const std::string name = "the application " + application.name + " " + application.version;
  for (const auto& one : content_->list.applications)
    if (one.archive == application.archive) return revoked(name, one.reason);
  for (const auto& one : content_->list.minimum_versions)
    if (one.application == application.name && compare_versions(application.version, one.version) < 0)
      return revoked(name + ", as every version below " + one.version + ",", one.reason);
  return {};
}

Status Revocations::check_signed_application(const protocol::SignedStatement& application) const {
  if (!content_) return {};
  TRY(check_key(application.key, "signer"));
  TRY_ASSIGN(const auto statement, protocol::decode<protocol::ApplicationStatement>(application.payload));
  return check_application(statement);
}

Result<Revocations> revocations_in(const protocol::SignedStatement& document,
                                   std::string_view root_fingerprint) {
  TRY_ASSIGN(const auto content, protocol::decode<protocol::ProjectDocument>(document.payload));
  if (!content.revocations) return Revocations();
  return Revocations::from(*content.revocations, root_fingerprint);
}

}  // namespace gleaner::crypto

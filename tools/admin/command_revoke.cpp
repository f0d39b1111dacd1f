// keys revoke, keys revoked: the root key takes back what it, or what it certified, once vouched for. Done
// where the root key lives; the list that comes of it is a file for the server to publish.
#include <algorithm>

#include "shared/base/limits.h"
#include "shared/bundle/project_keys.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "shared/token/root_key.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"
#include "tools/admin/key_files.h"
#include "tools/admin/table.h"

namespace gleaner::admin {
namespace {

struct RevokeOptions {
  std::string root;
  std::string list;
  std::vector<std::string> work_keys;
  std::vector<std::string> signers;
  std::vector<std::string> tls_keys;
  std::vector<std::string> archives;
  std::string application;
  std::string below;
  std::string reason;
};

struct ListChoice {
  std::string list;
};

// True if it was not on the list.
template <typename Entry, typename Same>
bool add(std::vector<Entry>& entries, Entry entry, const Same& same) {
  if (std::any_of(entries.begin(), entries.end(), [&](const Entry& one) { return same(one, entry); }))
    return false;
  entries.push_back(std::move(entry));
  return true;
}

Result<bool> add_keys(const io::Files& files, const RevokeOptions& options, protocol::RevocationList& list) {
  bool added = false;
  for (const auto* names : {&options.work_keys, &options.signers})
    for (const std::string& name : *names) {
      TRY_ASSIGN(const Bytes key, read_public_key(files, name));
      added |=
          add(list.keys, {key, options.reason}, [](const auto& a, const auto& b) { return a.key == b.key; });
    }
  for (const std::string& name : options.tls_keys) {
    TRY_ASSIGN(const std::string digest, read_tls_key_digest(files, name));
    added |= add(list.tls_keys, {digest, options.reason},
                 [](const auto& a, const auto& b) { return a.digest == b.digest; });
  }
  return added;
}

Result<bool> add_applications(const io::Files& files, const RevokeOptions& options,
                              protocol::RevocationList& list) {
  bool added = false;
  for (const std::string& name : options.archives) {
    TRY_ASSIGN(const std::string digest, read_archive_digest(files, name));
    added |= add(list.applications, {digest, options.reason},
                 [](const auto& a, const auto& b) { return a.archive == b.archive; });
  }
  if (options.application.empty()) return added;
  auto& minimums = list.minimum_versions;
  const auto known = std::find_if(minimums.begin(), minimums.end(),
                                  [&](const auto& one) { return one.application == options.application; });
  const protocol::MinimumVersion minimum{options.application, options.below, options.reason};
  if (known == minimums.end()) {
    minimums.push_back(minimum);
    return true;
  }
  if (crypto::compare_versions(options.below, known->version) <= 0) return added;
  *known = minimum;
  return true;
}

Status check_room(const protocol::RevocationList& list) {
  const auto full = [](std::size_t count, int most) { return count > static_cast<std::size_t>(most); };
  if (full(list.keys.size(), limits::revoked_keys_max) ||
      full(list.tls_keys.size(), limits::revoked_keys_max))
    return Error{ErrorKind::too_large, "a list holds at most " + std::to_string(limits::revoked_keys_max) +
                                           " keys: nothing was changed"};
  if (full(list.applications.size(), limits::revoked_applications_max) ||
      full(list.minimum_versions.size(), limits::revoked_applications_max))
    return Error{ErrorKind::too_large, "a list holds at most " +
                                           std::to_string(limits::revoked_applications_max) +
                                           " applications: revoke them by --application and --below"};
  return {};
}

std::string counts_text(const protocol::RevocationList& list) {
  return counted(static_cast<std::int64_t>(list.keys.size()), "key") + ", " +
         counted(static_cast<std::int64_t>(list.tls_keys.size()), "TLS key") + ", " +
         counted(static_cast<std::int64_t>(list.applications.size()), "application version") + ", " +
         counted(static_cast<std::int64_t>(list.minimum_versions.size()), "minimum version");
}

// The clock's seconds: higher than before even where the list of before is lost.
std::int64_t next_number(std::int64_t before, Timestamp now) {
  return std::max(before + 1, to_microseconds(now) / 1'000'000);
}

Result<ExitCode> revoke(Session& session, const RevokeOptions& options) {
  if (options.application.empty() != options.below.empty())
    return Error{ErrorKind::invalid, "--application and --below belong together"};
  io::Files& files = session.outside().files;
  TRY_ASSIGN(const crypto::RootKey root, token::open_root_key(files, options.root));
  const Bytes fingerprint = crypto::fingerprint(root.public_key());
  io::Path path = options.list;
  if (path.empty()) path = bundle::revocations_file;
  if (options.list.empty() && !token::is_token_uri(options.root))
    path = io::Path(options.root).parent_path() / path;
  crypto::Revocations before;
  if (files.exists(path)) {
    TRY_ASSIGN(before, bundle::read_revocations(files, path, fingerprint));
  }
  protocol::RevocationList list = before.number() > 0 ? before.list() : protocol::RevocationList{};
  TRY_ASSIGN(const bool keys, add_keys(files, options, list));
  TRY_ASSIGN(const bool applications, add_applications(files, options, list));
  if (!keys && !applications)
    return Error{ErrorKind::conflict,
                 path.string() +
                     " has all of that already, or nothing was named: see `gleaner-admin keys "
                     "revoke --help`"};
  TRY(check_room(list));
  const Timestamp now = session.outside().clock.now();
  list.project = bundle::project_id(root.public_key());
  list.number = next_number(before.number(), now);
  list.issued_at = now;
  TRY_ASSIGN(const auto statement,
             crypto::sign_statement(protocol::StatementType::revocations, protocol::encode(list), root));
  TRY(files.write(path, protocol::encode(statement) + "\n", io::Mode::normal));
  if (session.json()) {
    session.print_json(Document()
                           .text("project", list.project)
                           .text("list", path.string())
                           .number("number", list.number)
                           .render());
    return ExitCode::ok;
  }
  session.people() << render_fields({{"list", path.string()},
                                     {"number", std::to_string(list.number)},
                                     {"revoked", counts_text(list)}},
                                    session.people_display())
                   << "Nothing has changed yet: copy it to keys/revocations.json in the server's directory, "
                      "which takes\nit within a second, and every client with its next heartbeat. Keep it "
                      "beside the root key.\n";
  return ExitCode::ok;
}

Result<ExitCode> show_revoked(Session& session, const ListChoice& choice) {
  io::Files& files = session.outside().files;
  TRY_ASSIGN(const Bytes text, files.read(choice.list, limits::json_message_bytes_max));
  const auto statement = protocol::decode<protocol::SignedStatement>(text);
  if (!statement.ok()) return statement.error().within(choice.list);
  TRY_ASSIGN(const auto revocations,
             crypto::Revocations::from(*statement, crypto::fingerprint(statement->key)));
  const protocol::RevocationList& list = revocations.list();
  if (session.json()) {
    session.print_json(protocol::encode(list));
    return ExitCode::ok;
  }
  Table table({{"WHAT"}, {"WHICH"}, {"REASON"}});
  for (const auto& one : list.keys) table.add({"key", to_hex(one.key), one.reason});
  for (const auto& one : list.tls_keys) table.add({"TLS key", one.digest, one.reason});
  for (const auto& one : list.applications) table.add({"application", one.archive, one.reason});
  for (const auto& one : list.minimum_versions)
    table.add({"versions", one.application + " below " + one.version, one.reason});
  session.people() << render_fields({{"project", list.project},
                                     {"number", std::to_string(list.number)},
                                     {"made", time_text(list.issued_at)}},
                                    session.people_display())
                   << table.render(session.people_display());
  return ExitCode::ok;
}

}  // namespace

void add_revocation_commands(CLI::App& keys, Action& chosen) {
  const auto options = std::make_shared<RevokeOptions>();
  CLI::App* command =
      keys.add_subcommand("revoke", "Revoke keys and applications: makes the list that the server publishes");
  command->add_option("--root", options->root, root_help)->required()->type_name("FILE|pkcs11:...");
  command
      ->add_option("--list", options->list,
                   "the list, extended if it exists (default: revocations.json beside the root key's file)")
      ->type_name("FILE");
  command->add_option("--work-key", options->work_keys, "a server's work key, or a file with its certificate")
      ->type_name("HEX|FILE");
  command
      ->add_option("--signer", options->signers,
                   "a signer's key, or a file with its certificate: revokes all that it signed")
      ->type_name("HEX|FILE");
  command
      ->add_option("--tls-key", options->tls_keys,
                   "a server's TLS key, by its certificate (keys/tls.pem) or by digest")
      ->type_name("FILE|DIGEST");
  command->add_option("--archive", options->archives, "one version of an application, by archive or digest")
      ->type_name("FILE|DIGEST");
  command->add_option("--application", options->application, "with --below: all lower versions of this one")
      ->type_name("NAME");
  command->add_option("--below", options->below, "the lowest version that may still run")
      ->type_name("VERSION");
  command->add_option("--reason", options->reason, "shown to administrators and volunteers")
      ->check([](const std::string& text) {
        const bool plain = text.size() <= limits::revocation_reason_length_max &&
                           std::none_of(text.begin(), text.end(), [](char c) {
                             return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                           });
        return plain ? std::string() : std::string("expected one line of at most 200 bytes");
      });
  command->footer(
      "Examples:\n"
      "  gleaner-admin keys revoke --root root.key --work-key work.certificate.json --tls-key tls.pem \\\n"
      "      --reason \"the server was broken into\"\n"
      "  gleaner-admin keys revoke --root root.key --application raytrace --below 1.2.1\n"
      "Nothing ever comes off a list: make a new key, or a new version.");
  on_parse(command, chosen, options, revoke);

  const auto choice = std::make_shared<ListChoice>();
  CLI::App* show = keys.add_subcommand("revoked", "Show what a list revokes");
  show->add_option("LIST", choice->list, "the list's file")->required();
  on_parse(show, chosen, choice, show_revoked);
}

}  // namespace gleaner::admin

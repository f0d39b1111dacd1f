// keys create, keys signer, keys work: the root key's work, done where it lives, never on the server.
#include "shared/bundle/project_keys.h"
#include "shared/bundle/server_keys.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "shared/token/root_key.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"
#include "tools/admin/key_files.h"

namespace gleaner::admin {
namespace {

constexpr int days_max = 3650;

struct CreateOptions {
  std::string root;
  std::string directory;
  std::string name = "signer";
  int days = 1095;
};

struct CertifyOptions {
  std::string root;
  std::string name = "work";
  std::string public_key;
  std::string out;
  int days = 365;
};

struct RotateOptions {
  std::string root;
  std::string directory;
  std::vector<std::string> hosts;
  bool only_work = false;
  bool only_tls = false;
  int days = 730;
};

Duration days_of(int days) {
  return std::chrono::hours{24 * days};
}

Result<bundle::OfflineKeys> make_offline_keys(Session& session, const CreateOptions& options) {
  io::Files& files = session.outside().files;
  const Timestamp now = session.outside().clock.now();
  const bundle::SignerTerms terms{options.name, days_of(options.days)};
  if (options.root.empty()) return bundle::create_offline_keys(files, options.directory, now, terms);
  TRY_ASSIGN(const crypto::RootKey root, token::open_root_key(files, options.root));
  return bundle::create_signer(files, options.directory, root, now, terms);
}

Result<ExitCode> create(Session& session, const CreateOptions& options) {
  const io::Path directory = options.directory;
  TRY_ASSIGN(const bundle::OfflineKeys keys, make_offline_keys(session, options));
  const std::string root = options.root.empty() ? (directory / bundle::root_key_file).string()
                                                : options.root.substr(0, options.root.find('?'));  // no PIN
  const std::string signer = (directory / bundle::signer_key_file).string();
  const std::string certificate = (directory / bundle::signer_certificate_file).string();
  if (session.json()) {
    session.print_json(Document()
                           .text("project", keys.project)
                           .text("root_key", root)
                           .text("signer_key", signer)
                           .text("signer_certificate", certificate)
                           .render());
    return ExitCode::ok;
  }
  session.people() << render_fields({{"project", keys.project},
                                     {"root key", root},
                                     {"signer key", signer},
                                     {"certificate", certificate}},
                                    session.people_display())
                   << (options.root.empty()
                           ? "Keep root.key offline (a USB stick in a drawer): who has it owns "
                             "the project. "
                           : "")
                   << "signer.key signs\napplications and belongs on the machine where you build them; "
                   << "the server needs neither.\n";
  return ExitCode::ok;
}

Result<ExitCode> finish_certificate(Session& session, const CertifyOptions& options,
                                    const std::string& project, const protocol::SignedStatement& certificate,
                                    const std::string& key_file, const io::Path& certificate_file) {
  const std::string text = protocol::encode(certificate);
  if (!certificate_file.empty())
    TRY(session.outside().files.write(certificate_file, text + "\n", io::Mode::normal));
  if (session.json()) {
    Document document;
    document.text("project", project).text("name", options.name).json("certificate", text);
    if (!key_file.empty()) document.text("key", key_file);
    if (!certificate_file.empty()) document.text("certificate_file", certificate_file.string());
    session.print_json(document.render());
  } else if (certificate_file.empty()) {
    session.people() << text << '\n';
  } else {
    const Timestamp until = session.outside().clock.now() + days_of(options.days);
    session.people() << render_fields({{"project", project},
                                       {"key", key_file},
                                       {"certificate", certificate_file.string()},
                                       {"valid until", time_text(until)}},
                                      session.people_display());
  }
  return ExitCode::ok;
}

Result<protocol::SignedStatement> certify(Session& session, const CertifyOptions& options,
                                          protocol::StatementType type, std::string_view key,
                                          std::string& project) {
  TRY_ASSIGN(const crypto::RootKey root, token::open_root_key(session.outside().files, options.root));
  project = bundle::project_id(root.public_key());
  const Timestamp now = session.outside().clock.now();
  return bundle::certify_key(root, project, type, key, options.name, now, now + days_of(options.days));
}

Result<ExitCode> certify_signer(Session& session, const CertifyOptions& options) {
  io::Files& files = session.outside().files;
  constexpr auto type = protocol::StatementType::signer_certificate;
  std::string project;
  if (!options.public_key.empty()) {
    TRY_ASSIGN(const Bytes key, read_public_key(files, options.public_key));
    TRY_ASSIGN(const auto certificate, certify(session, options, type, key, project));
    return finish_certificate(session, options, project, certificate, "", options.out);
  }
  const io::Path key_file = options.out;
  io::Path certificate_file = key_file;
  certificate_file.replace_extension(".certificate.json");
  for (const io::Path& path : {key_file, certificate_file})
    if (files.exists(path))
      return Error{ErrorKind::conflict, path.string() + " is there already, and keys are never overwritten"};
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  TRY_ASSIGN(const auto certificate, certify(session, options, type, key.public_key(), project));
  TRY(files.write(key_file, key.to_pem(), io::Mode::secret));
  return finish_certificate(session, options, project, certificate, key_file.string(), certificate_file);
}

Result<ExitCode> certify_work(Session& session, const CertifyOptions& options) {
  TRY_ASSIGN(const Bytes key, read_public_key(session.outside().files, options.public_key));
  std::string project;
  TRY_ASSIGN(const auto certificate,
             certify(session, options, protocol::StatementType::work_key_certificate, key, project));
  return finish_certificate(session, options, project, certificate, "", options.out);
}

Result<ExitCode> rotate(Session& session, const RotateOptions& options) {
  io::Files& files = session.outside().files;
  const io::Path directory = options.directory;
  for (const char* name :
       {bundle::work_key_file, bundle::work_certificate_file, bundle::tls_key_file, bundle::tls_chain_file})
    TRY(bundle::check_absent(files, directory / name));
  TRY_ASSIGN(const crypto::RootKey root, token::open_root_key(files, options.root));
  const Timestamp now = session.outside().clock.now();
  bundle::ServerKeyTerms terms;
  terms.work = !options.only_tls;
  terms.tls = !options.only_work;
  terms.hosts = options.hosts;
  terms.from = now;
  terms.until = now + days_of(options.days);
  TRY(bundle::create_server_keys(files, directory, root, terms));
  if (session.json()) {
    Document document;
    document.text("project", bundle::project_id(root.public_key()));
    if (terms.work) document.text("work_key", (directory / bundle::work_key_file).string());
    if (terms.tls) document.text("tls_key", (directory / bundle::tls_key_file).string());
    session.print_json(document.render());
    return ExitCode::ok;
  }
  session.people()
      << render_fields({{"project", bundle::project_id(root.public_key())},
                        {"new keys", directory.string()},
                        {"valid until", time_text(terms.until)}},
                       session.people_display())
      << "Move the directory to the server, run there `gleaner-server take-keys PROJECT NEW` as its "
         "user, and start\nthe server again. Keys that may have been stolen: `gleaner-admin keys "
         "revoke` after that.\n";
  return ExitCode::ok;
}

void declare_root_and_days(CLI::App* command, CertifyOptions& options) {
  command->add_option("--root", options.root, root_help)->required()->type_name("FILE|pkcs11:...");
  command->add_option("--days", options.days, "how long the certificate is good for")
      ->capture_default_str()
      ->check(CLI::Range(1, days_max));
}

}  // namespace

void add_key_commands(CLI::App& program, Action& chosen) {
  CLI::App* keys = program.add_subcommand("keys", "Make and certify a project's keys; works offline");
  keys->require_subcommand(1);

  const auto creation = std::make_shared<CreateOptions>();
  CLI::App* create_keys =
      keys->add_subcommand("create", "Make a root key, and a signer key that it certifies");
  create_keys->add_option("--out", creation->directory, "directory for the files; made if missing")
      ->required()
      ->type_name("DIR");
  create_keys->add_option("--root", creation->root, "use this root key instead of making one")
      ->type_name("FILE|pkcs11:...");
  create_keys->add_option("--name", creation->name, "the signer's name, shown with its applications")
      ->capture_default_str()
      ->check(name_validator());
  create_keys->add_option("--days", creation->days, "how long the signer's certificate is good for")
      ->capture_default_str()
      ->check(CLI::Range(1, days_max));
  create_keys->footer("Example:\n  gleaner-admin keys create --out ~/keys --name \"Physics lab\"");
  on_parse(create_keys, chosen, creation, create);

  const auto signer = std::make_shared<CertifyOptions>();
  CLI::App* certify_signers = keys->add_subcommand("signer", "Certify another signer of applications");
  declare_root_and_days(certify_signers, *signer);
  certify_signers->add_option("--name", signer->name, "the signer's name, shown with its applications")
      ->required()
      ->check(name_validator());
  certify_signers->add_option("--public-key", signer->public_key, "certify this key instead of making one")
      ->type_name("HEX|FILE");
  certify_signers
      ->add_option("--out", signer->out,
                   "file for the new key; its certificate is written beside it as NAME.certificate.json "
                   "(with --public-key: file for the certificate)")
      ->required()
      ->type_name("FILE");
  certify_signers->footer(
      "Examples:\n  gleaner-admin keys signer --root root.key --name alice --days 365 --out alice.key\n"
      "  gleaner-admin keys signer --root root.key --name bob --public-key bob.hex --out "
      "bob.certificate.json");
  on_parse(certify_signers, chosen, signer, certify_signer);

  const auto work = std::make_shared<CertifyOptions>();
  CLI::App* certify_work_key = keys->add_subcommand("work", "Certify a server's work key again (renewal)");
  declare_root_and_days(certify_work_key, *work);
  certify_work_key
      ->add_option("--public-key", work->public_key,
                   "the work key: 64 hex digits, or a file with them or with its last certificate")
      ->required()
      ->type_name("HEX|FILE");
  certify_work_key->add_option("--out", work->out, "file for the certificate; else it is printed")
      ->type_name("FILE");
  certify_work_key->footer(
      "Example: copy keys/work.certificate.json from the server, then\n"
      "  gleaner-admin keys work --root root.key --public-key work.certificate.json --out new.json\n"
      "and put new.json in its place.");
  on_parse(certify_work_key, chosen, work, certify_work);

  const auto rotation = std::make_shared<RotateOptions>();
  CLI::App* rotate_keys =
      keys->add_subcommand("rotate", "Make a server's new work and TLS keys, certified by the root key");
  rotate_keys->add_option("--root", rotation->root, root_help)->required()->type_name("FILE|pkcs11:...");
  rotate_keys->add_option("--out", rotation->directory, "directory for the files; made if missing")
      ->required()
      ->type_name("DIR");
  rotate_keys
      ->add_option("--host", rotation->hosts,
                   "name or address of the server, for browsers; clients need none")
      ->type_name("HOST");
  CLI::Option* only_work = rotate_keys->add_flag("--only-work", rotation->only_work, "no TLS key");
  rotate_keys->add_flag("--only-tls", rotation->only_tls, "no work key")->excludes(only_work);
  rotate_keys->add_option("--days", rotation->days, "how long the certificates are good for")
      ->capture_default_str()
      ->check(CLI::Range(1, days_max));
  rotate_keys->footer(
      "Example:\n  gleaner-admin keys rotate --root root.key --out new-keys --host grid.example.org");
  on_parse(rotate_keys, chosen, rotation, rotate);

  add_revocation_commands(*keys, chosen);
}

}  // namespace gleaner::admin

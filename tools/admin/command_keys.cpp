// keys create, keys signer, keys work: the root key's work, done where it lives, never on the server.
#include "shared/bundle/project_keys.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

constexpr int days_max = 3650;
constexpr std::int64_t public_key_file_bytes_max = 64 << 10;

struct CreateOptions {
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

Duration days_of(int days) {
  return std::chrono::hours{24 * days};
}

// 64 hex digits, or a file with such or with an earlier certificate of the key.
Result<Bytes> read_public_key(const io::Files& files, const std::string& text) {
  const auto as_key = [](std::string_view digits) -> std::optional<Bytes> {
    while (!digits.empty() && (digits.back() == '\n' || digits.back() == '\r')) digits.remove_suffix(1);
    auto key = from_hex(digits);
    if (key && key->size() == 32) return key;
    return std::nullopt;
  };
  if (auto key = as_key(text)) return *key;
  if (!files.exists(text))
    return Error{ErrorKind::not_found,
                 "\"" + text + "\" is neither a public key of 64 hex digits nor a file"};
  TRY_ASSIGN(const Bytes content, files.read(text, public_key_file_bytes_max));
  if (auto key = as_key(content)) return *key;
  if (const auto statement = protocol::decode<protocol::SignedStatement>(content); statement.ok())
    if (const auto certificate = protocol::decode<protocol::KeyCertificate>(statement->payload);
        certificate.ok())
      return certificate->key;
  return Error{ErrorKind::invalid,
               text + " holds neither a public key of 64 hex digits nor a certificate of one"};
}

Result<ExitCode> create(Session& session, const CreateOptions& options) {
  const io::Path directory = options.directory;
  TRY_ASSIGN(const bundle::OfflineKeys keys,
             bundle::create_offline_keys(session.outside().files, directory, session.outside().clock.now(),
                                         {options.name, days_of(options.days)}));
  const std::string root = (directory / bundle::root_key_file).string();
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
                   << "Keep root.key offline (a USB stick in a drawer): who has it owns the project. "
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
  TRY_ASSIGN(const crypto::PrivateKey root, bundle::read_key_file(session.outside().files, options.root));
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

void declare_root_and_days(CLI::App* command, CertifyOptions& options) {
  command->add_option("--root", options.root, "the root key's file")->required()->type_name("root.key");
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
  create_keys->add_option("--out", creation->directory, "directory for the files; made if need be")
      ->required()
      ->type_name("DIR");
  create_keys->add_option("--name", creation->name, "the signer's name, shown with what it signed")
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
  certify_signers->add_option("--name", signer->name, "the signer's name, shown with what it signed")
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
}

}  // namespace gleaner::admin

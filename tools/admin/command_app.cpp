// app sign, app add, app list, app show; app new and app check have files of their own.
#include <algorithm>
#include <cmath>

#include "shared/archive/bundle_archive.h"
#include "shared/base/limits.h"
#include "shared/bundle/bundle.h"
#include "shared/bundle/project_keys.h"
#include "shared/crypto/statements.h"
#include "shared/json/text.h"
#include "shared/protocol/codec.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"
#include "tools/admin/prepared_bundle.h"

namespace gleaner::admin {
namespace {

constexpr std::int64_t signed_file_bytes_max = 64 << 10;

struct SignOptions {
  std::string directory;
  std::string key;
  std::string certificate;
  std::string out = ".";
};
struct ArchiveOptions {
  std::string archive;
};
struct NameOptions {
  std::string name;
};

// Says early and clearly what every client would refuse later.
Result<protocol::KeyCertificate> check_signer(const protocol::SignedStatement& statement,
                                              const crypto::PrivateKey& key, const io::Path& file,
                                              Timestamp now) {
  auto certificate = protocol::decode<protocol::KeyCertificate>(statement.payload);
  if (!certificate.ok()) return certificate.error().within(file.string());
  auto checked = crypto::check_key_certificate(statement, protocol::StatementType::signer_certificate,
                                               statement.key, certificate->project, now);
  if (!checked.ok()) return checked.error().within(file.string());
  if (bundle::project_id(statement.key) != checked->project)
    return Error{ErrorKind::untrusted, file.string() + " is not by the root key of its project"};
  if (checked->key != key.public_key())
    return Error{ErrorKind::untrusted, file.string() +
                                           " certifies another key than the one given with --key: " +
                                           "name the key's own certificate with --certificate"};
  return checked;
}

Result<ExitCode> sign(Session& session, const SignOptions& options) {
  io::Files& files = session.outside().files;
  const Timestamp now = session.outside().clock.now();
  io::Path certificate_file = options.certificate;
  if (certificate_file.empty())
    certificate_file = io::Path(options.key).replace_extension(".certificate.json");
  TRY_ASSIGN(const crypto::PrivateKey key, bundle::read_key_file(files, options.key));
  TRY_ASSIGN(const auto statement, bundle::read_certificate_file(files, certificate_file));
  TRY_ASSIGN(const auto certificate, check_signer(statement, key, certificate_file, now));
  TRY_ASSIGN(const PreparedBundle prepared, PreparedBundle::prepare(session.outside(), options.directory));
  TRY_ASSIGN(const bundle::PackedBundle packed, archives::pack_bundle(prepared.directory()));
  const auto application = bundle::sign_bundle(packed, key, statement, certificate.project, now);
  const io::Path out = options.out;
  const io::Path archive = out / (packed.manifest.name + "-" + packed.manifest.version + ".tar.gz");
  const io::Path signature = archive.string() + ".signed";
  TRY(files.make_directories(out));
  TRY(files.write(archive, packed.archive, io::Mode::normal));
  TRY(files.write(signature, protocol::encode(application) + "\n", io::Mode::normal));
  if (session.json()) {
    session.print_json(Document()
                           .text("name", packed.manifest.name)
                           .text("version", packed.manifest.version)
                           .text("archive", archive.string())
                           .text("signature", signature.string())
                           .text("digest", packed.digest)
                           .number("bytes", static_cast<std::int64_t>(packed.archive.size()))
                           .render());
  } else {
    session.people() << "signed " << packed.manifest.name << ' ' << packed.manifest.version << " as "
                     << certificate.name << ": " << archive.string() << " ("
                     << bytes_text(static_cast<std::int64_t>(packed.archive.size())) << ") and "
                     << signature.string() << "\nnext: gleaner-admin app add " << archive.string() << '\n';
  }
  return ExitCode::ok;
}

Result<ExitCode> add(Session& session, const ArchiveOptions& options) {
  const io::Files& files = session.outside().files;
  const io::Path archive = options.archive;
  const io::Path signature = archive.string() + ".signed";
  TRY_ASSIGN(const BlobName blob, blob_of_file(files, archive));
  if (!files.exists(signature))
    return Error{ErrorKind::not_found, "there is no " + signature.string() + ": sign the application with " +
                                           "`gleaner-admin app sign`, and keep both files together"};
  TRY_ASSIGN(const Bytes text, files.read(signature, signed_file_bytes_max));
  const auto application = protocol::decode<protocol::AddApplication>(text);
  if (!application.ok()) return application.error().within(signature.string());
  const auto statement = protocol::decode<protocol::ApplicationStatement>(application->application.payload);
  if (!statement.ok()) return statement.error().within(signature.string());
  if (statement->archive != blob.digest)
    return Error{ErrorKind::untrusted,
                 archive.string() + " is not the archive that " + signature.string() +
                     " was made for (it changed, or the files got mixed up): sign it again"};
  TRY_ASSIGN(Api* const api, session.api());
  {
    TransferBar bar(session, "uploading " + archive.filename().string());
    TRY(upload_file(*api, files, archive, blob, bar.progress()));
  }
  TRY_ASSIGN(const auto info, api->add_application(*application));
  if (session.json())
    session.print_json(protocol::encode(info));
  else
    session.people() << "added " << info.name << ' ' << info.version << " (" << info.title << ")\nnext: "
                     << "gleaner-admin problem add --app " << info.name << " --watch\n";
  return ExitCode::ok;
}

Result<ExitCode> list_apps(Session& session, const NoOptions&) {
  TRY_ASSIGN(Api* const api, session.api());
  TRY_ASSIGN(const auto applications, api->applications());
  if (session.json()) {
    session.print_json(protocol::encode(applications));
    return ExitCode::ok;
  }
  if (applications.empty()) {
    session.people() << "no applications yet: add one with `gleaner-admin app add FILE.tar.gz`\n";
    return ExitCode::ok;
  }
  Table table(
      {{"NAME"}, {"VERSION"}, {"PLATFORMS"}, {"SIZE", Align::right}, {"SIGNER"}, {"ADDED"}, {"TITLE"}});
  for (const auto& each : applications)
    table.add({each.name, each.version, joined(each.platforms), bytes_text(each.archive_bytes), each.signer,
               time_text(each.added_at), each.title});
  session.people() << table.render(session.people_display());
  return ExitCode::ok;
}

// What may be given, and what leaving it out means.
std::string kind_of(const protocol::ParameterInfo& parameter) {
  const auto bound = [](double value) {
    const bool whole = value == std::floor(value) && std::abs(value) < 0x1p63;
    return json::write(whole ? json::Value(static_cast<std::int64_t>(value)) : json::Value(value));
  };
  if (parameter.type == "choice") return joined(parameter.choices);
  if (parameter.low && parameter.high)
    return parameter.type + " " + bound(*parameter.low) + " to " + bound(*parameter.high);
  if (parameter.low) return parameter.type + " from " + bound(*parameter.low);
  if (parameter.high) return parameter.type + " to " + bound(*parameter.high);
  return parameter.type;
}

void show_form(Session& session, const protocol::ApplicationInfo& application) {
  if (application.parameters.empty()) {
    session.people() << "\nThis application does not declare its parameters; see its documentation.\n";
  } else {
    Table table({{"PARAMETER"}, {"DEFAULT"}, {"WHAT IT MAY BE"}, {"MEANING"}});
    for (const auto& each : application.parameters)
      table.add({each.name,
                 each.required                ? "must be given"
                 : each.default_value.empty() ? "-"
                                              : each.default_value,
                 kind_of(each), each.meaning});
    session.people() << '\n' << table.render(session.people_display());
  }
  if (application.inputs.empty()) return;
  Table table({{"INPUT"}, {""}, {"MEANING"}});
  for (const auto& each : application.inputs)
    table.add({each.name, each.required ? "must be given" : "", each.meaning});
  session.people() << '\n' << table.render(session.people_display());
}

Result<ExitCode> show(Session& session, const NameOptions& options) {
  TRY_ASSIGN(Api* const api, session.api());
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-@";
  const bool is_name = !options.name.empty() && options.name.find_first_not_of(letters) == std::string::npos;
  const auto found = is_name ? api->application(options.name)
                             : Result<protocol::ApplicationInfo>(Error{ErrorKind::not_found, ""});
  if (!found.ok()) {
    if (found.error().kind != ErrorKind::not_found) return found.error();
    return Error{ErrorKind::not_found, "there is no application " + options.name +
                                           ": `gleaner-admin app list` shows what there is"};
  }
  if (session.json()) {
    session.print_json(protocol::encode(*found));
    return ExitCode::ok;
  }
  session.people() << render_fields({{"name", {found->name, Tint::bold}},
                                     {"version", found->version},
                                     {"title", found->title},
                                     {"platforms", joined(found->platforms)},
                                     {"needs", joined(found->needs)},
                                     {"archive", found->archive},
                                     {"size", bytes_text(found->archive_bytes)},
                                     {"signer", found->signer},
                                     {"certified until", time_text(found->signer_expires)},
                                     {"added", time_text(found->added_at)}},
                                    session.people_display());
  show_form(session, *found);
  return ExitCode::ok;
}

}  // namespace

void add_application_commands(CLI::App& program, Action& chosen) {
  CLI::App* application = program.add_subcommand("app", "Write, check, sign, add and list applications");
  application->require_subcommand(1);
  add_new_command(*application, chosen);
  add_wrap_command(*application, chosen);
  add_check_command(*application, chosen);

  const auto signing = std::make_shared<SignOptions>();
  CLI::App* signs = application->add_subcommand("sign", "Pack a bundle directory and sign it; works offline");
  signs->add_option("directory", signing->directory, "the bundle: a directory with a manifest.toml")
      ->required()
      ->type_name("DIR");
  signs->add_option("--key", signing->key, "the signer's key")->required()->type_name("signer.key");
  signs
      ->add_option("--certificate", signing->certificate,
                   "its certificate; else NAME.certificate.json beside the key")
      ->type_name("FILE");
  signs->add_option("-o,--out", signing->out, "directory for the two files that are written")
      ->capture_default_str()
      ->type_name("DIR");
  signs->footer("Example:\n  gleaner-admin app sign build/bundles/raytrace --key ~/keys/signer.key");
  on_parse(signs, chosen, signing, sign);

  const auto adding = std::make_shared<ArchiveOptions>();
  CLI::App* adds = application->add_subcommand("add", "Upload a signed application to the server");
  adds->add_option("archive", adding->archive, "NAME-VERSION.tar.gz, with its .signed beside it")
      ->required()
      ->type_name("FILE.tar.gz");
  adds->footer("Example:\n  gleaner-admin app add raytrace-1.0.0.tar.gz");
  on_parse(adds, chosen, adding, add);

  on_parse(application->add_subcommand("list", "List the server's applications"), chosen,
           std::make_shared<NoOptions>(), list_apps);

  const auto showing = std::make_shared<NameOptions>();
  CLI::App* shows = application->add_subcommand("show", "Show an application, its parameters and inputs");
  shows->add_option("name", showing->name, "its name; default: the newest version")
      ->required()
      ->type_name("NAME[@VERSION]");
  on_parse(shows, chosen, showing, show);
}

}  // namespace gleaner::admin

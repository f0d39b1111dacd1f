// app new: an application to begin with, in the language of one's choice.
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/local/templates.h"

namespace gleaner::admin {
namespace {

struct NewOptions {
  std::string name;
  std::string language = "c++";
  std::string out;
};

Result<ExitCode> make(Session& session, const NewOptions& options) {
  Outside& outside = session.outside();
  const io::Path into = options.out.empty() ? io::Path(options.name) : io::Path(options.out);
  TRY_ASSIGN(const auto made,
             local::make_application(outside.files, outside.installation / "share/gleaner/templates",
                                     options.language, options.name, into));
  if (session.json()) {
    std::vector<Document> files;
    for (const std::string& file : made)
      files.push_back(std::move(Document().text("path", (into / file).string())));
    session.print_json(
        Document().text("name", options.name).text("directory", into.string()).list("files", files).render());
    return ExitCode::ok;
  }
  for (const std::string& file : made) session.people() << (into / file).string() << '\n';
  session.people() << "next: " << (into / "test").string() << ", then read " << (into / "README.md").string()
                   << '\n';
  return ExitCode::ok;
}

}  // namespace

void add_new_command(CLI::App& applications, Action& chosen) {
  const auto options = std::make_shared<NewOptions>();
  CLI::App* command =
      applications.add_subcommand("new", "Create a starter application with its own build and test");
  command->add_option("name", options->name, "the application's name: a-z, 0-9, '-'")
      ->required()
      ->type_name("NAME");
  command
      ->add_option("--language", options->language,
                   "c++ uses the kit (package gleaner-kit); python and c need nothing but the contract")
      ->capture_default_str()
      ->check(CLI::IsMember(local::languages()));
  command->add_option("-o,--out", options->out, "the directory to make; else NAME here")->type_name("DIR");
  command->footer("Example:\n  gleaner-admin app new primes --language python && primes/test");
  on_parse(command, chosen, options, make);
}

}  // namespace gleaner::admin

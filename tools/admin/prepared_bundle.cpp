#include "tools/admin/prepared_bundle.h"

#include <utility>

#include "shared/bundle/wrap.h"
#include "shared/crypto/keys.h"

namespace gleaner::admin {

Result<PreparedBundle> PreparedBundle::prepare(Outside& outside, const io::Path& directory) {
  TRY_ASSIGN(const bool wrapped, bundle::is_wrapped(directory));
  PreparedBundle prepared(directory);
  if (!wrapped) return prepared;
  TRY_ASSIGN(prepared.directory_, unused_work("gleaner-wrap-"));
  prepared.copy_ = prepared.directory_;
  TRY(bundle::complete_wrapped(directory, outside.installation / "libexec/gleaner", local::this_platform(),
                               prepared.copy_));
  return prepared;
}

PreparedBundle::PreparedBundle(PreparedBundle&& other) noexcept
    : directory_(std::move(other.directory_)), copy_(std::exchange(other.copy_, {})) {}

PreparedBundle::~PreparedBundle() {
  std::error_code ignored;  // what is left in the temporary directory does no harm
  if (!copy_.empty()) std::filesystem::remove_all(copy_, ignored);
}

void declare_unconfined(CLI::App* command, std::string& words) {
  command
      ->add_option(
          "--unconfined", words,
          "to run the bundle's programs without the sandbox, where they can read and change all that "
          "you can: \"" +
              std::string(local::unconfined_words) + "\"")
      ->check(CLI::IsMember(std::vector<std::string>{local::unconfined_words}).description(""))
      ->type_name("WORDS");
}

Result<local::Confinement> find_confinement(Outside& outside, const std::string& words,
                                            const io::Path& place) {
  if (words == local::unconfined_words) {
    outside.error << "The bundle's programs are not confined: they can read and change all that you can.\n";
    return local::Confinement::none();
  }
  sandbox::Tools tools{{}, sandbox::find_bubblewrap()};
  // In a build tree, and installed.
  for (const char* const helper : {"bin/gleaner-sandbox", "libexec/gleaner-admin/gleaner-sandbox"})
    if (tools.helper.empty() && outside.files.exists(outside.installation / helper))
      tools.helper = outside.installation / helper;
  TRY_ASSIGN(local::Confinement found, local::Confinement::find(tools, outside.processes, outside.files,
                                                                std::filesystem::absolute(place)));
  if (const std::string weakness = found.weakness(); !weakness.empty())
    outside.error << "The bundle's programs are confined by Landlock alone: " << weakness << ".\n";
  return found;
}

Result<io::Path> unused_work(const std::string& prefix) {
  std::error_code error;
  const io::Path temporary = std::filesystem::temp_directory_path(error);
  if (error)
    return Error{ErrorKind::not_found,
                 "there is no directory for temporary files: set TMPDIR to one (" + error.message() + ")"};
  return temporary / (prefix + to_hex(crypto::random_secret(6)));
}

Result<local::Content> local_content(const io::Files& files, const ProblemOptions& options) {
  local::Content content;
  TRY_ASSIGN(content.parameters, read_parameters(files, options));
  TRY_ASSIGN(const auto inputs, parse_inputs(files, options));
  for (const NamedFile& input : inputs) content.inputs.emplace_back(input.name, input.path);
  return content;
}

Status end_work(Outside& outside, const io::Path& work, bool keep) {
  if (!keep) return outside.files.remove_all(work);
  outside.error << "kept the work directory " << work.string() << '\n';
  return {};
}

}  // namespace gleaner::admin

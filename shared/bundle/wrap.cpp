#include "shared/bundle/wrap.h"

#include <filesystem>

#include "shared/base/paths.h"
#include "shared/bundle/bundle.h"
#include "shared/json/text.h"

namespace gleaner::bundle {
namespace {

constexpr const char* command_file = "wrap.json";
constexpr std::int64_t command_bytes_max = 256 << 10;
constexpr const char* kernel_file = "bin/gleaner-wrap-kernel";
constexpr const char* manager_file = "bin/gleaner-wrap-manager";

Status copy_program(const io::Path& from, const io::Path& to) {
  if (!io::real_files().exists(from))
    return Error{ErrorKind::not_found,
                 utf8_text(from) + " is missing: it comes with gleaner-admin; build or install it"};
  if (io::real_files().exists(to))
    return Error{ErrorKind::invalid, utf8_text(to) + " is Gleaner's own: call the bundle's file otherwise"};
  std::error_code failure;
  std::filesystem::copy_file(from, to, failure);
  if (!failure) return {};
  return Error{ErrorKind::io,
               "cannot copy " + utf8_text(from) + " to " + utf8_text(to) + ": " + failure.message()};
}

// What apps/wrap/command.h reads.
std::string command_of(const Manifest& manifest) {
  json::Value numbers = json::Value::object();
  for (const auto& [name, expression] : manifest.wrap_numbers) numbers[name] = expression;
  const json::Value command{
      {"program", manifest.wrap.front()},
      {"arguments", std::vector<std::string>(manifest.wrap.begin() + 1, manifest.wrap.end())},
      {"suffix", manifest.wrap_suffix},
      {"rows", manifest.wrap_rows},
      {"numbers", std::move(numbers)},
      {"ignore", manifest.wrap_ignore},
      {"compare", manifest.wrap_compare}};
  return json::write(command, {2}) + "\n";
}

}  // namespace

Result<bool> is_wrapped(const io::Path& directory) {
  TRY_ASSIGN(const Manifest manifest, read_manifest(directory));
  return !manifest.wrap.empty();
}

bool is_completed(const Manifest& manifest) {
  return manifest.manager == manager_file;
}

io::Path compare_program(const io::Path& directory) {
  const auto text = io::real_files().read(directory / command_file, command_bytes_max);
  if (!text.ok()) return {};
  const json::Value compare = json::parse_or_null(*text)["compare"];
  return compare.is_string() && !compare.string().empty() ? directory / compare.string() : io::Path();
}

Status complete_wrapped(const io::Path& directory, const io::Path& programs, const std::string& platform,
                        const io::Path& into) {
  TRY_ASSIGN(Manifest manifest, read_manifest(directory));
  TRY(check_program(directory, manifest.wrap.front()));
  if (!manifest.wrap_compare.empty()) TRY(check_program(directory, manifest.wrap_compare));
  io::Files& files = io::real_files();
  TRY(files.make_directories(into.parent_path()));
  std::error_code failure;
  std::filesystem::copy(
      directory, into,
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks, failure);
  if (failure)
    return Error{ErrorKind::io,
                 "cannot copy " + utf8_text(directory) + " to " + utf8_text(into) + ": " + failure.message()};
  TRY(files.make_directories(into / "bin"));
  TRY(copy_program(programs / "wrap-kernel", into / kernel_file));
  TRY(copy_program(programs / "wrap-manager", into / manager_file));
  TRY(files.write(into / command_file, command_of(manifest), io::Mode::normal));
  manifest.wrap.clear();
  manifest.kernels = {{platform, kernel_file}};
  manifest.manager = manager_file;
  // Rows that failed alike are equal, whatever their last words are.
  if (!manifest.wrap_compare.empty() || manifest.wrap_rows) manifest.comparison = Comparison::manager;
  return files.write(into / manifest_file, render_manifest(manifest), io::Mode::normal);
}

}  // namespace gleaner::bundle

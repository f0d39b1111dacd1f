// What several commands of commands.h take: names, parameters, inputs.
#include <charconv>
#include <set>

#include "shared/base/limits.h"
#include "shared/protocol/text.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"

namespace gleaner::admin {

CLI::Validator name_validator() {
  return {[](std::string& name) {
            const bool good = !name.empty() && protocol::clean_line(name, limits::name_length_max) == name;
            return good ? std::string()
                        : "a name has 1 to " + std::to_string(limits::name_length_max) +
                              " bytes, no control characters, and no blanks around it";
          },
          "NAME"};
}

Result<protocol::ProblemInfo> find_problem(Api& api, const std::string& which) {
  std::int64_t number = 0;
  const auto read = std::from_chars(which.data(), which.data() + which.size(), number);
  if (read.ec == std::errc() && read.ptr == which.data() + which.size())
    return api.problem(ProblemId{number});
  TRY_ASSIGN(const auto problems, api.problems());
  std::string ids;
  ProblemId found;
  for (const auto& problem : problems) {
    if (problem.name != which) continue;
    ids += (ids.empty() ? "" : ", ") + std::to_string(problem.id.value);
    found = problem.id;
  }
  if (ids.empty())
    return Error{ErrorKind::not_found, "there is no problem called " + which +
                                           ": `gleaner-admin problem list` shows what there is"};
  if (ids.find(',') != std::string::npos)
    return Error{ErrorKind::conflict,
                 "several problems are called " + which + " (" + ids + "): give the id instead"};
  return api.problem(found);
}

void declare_problem_options(CLI::App* command, ProblemOptions& options) {
  command->add_option("--parameters", options.parameters_file, "JSON file with the problem's parameters")
      ->type_name("FILE.json");
  command
      ->add_option("--param", options.settings,
                   "one parameter; anything but a JSON value is text (repeatable)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--input", options.inputs,
                   "a file that kernels and manager see as inputs/NAME, or a directory of them; default "
                   "NAME: the file's own name (repeatable)")
      ->type_name("[NAME=]FILE|DIR")
      ->allow_extra_args(false);
  command
      ->add_option("--table", options.table,
                   "table of a wrapped program, one item per row (the first line names the columns)")
      ->type_name("FILE.csv");
}

Result<std::string> read_parameters(const io::Files& files, const ProblemOptions& options) {
  Bytes base;
  if (!options.parameters_file.empty()) {
    TRY_ASSIGN(base, files.read(options.parameters_file, limits::parameters_bytes_max));
    if (base.empty())
      return Error{ErrorKind::invalid,
                   options.parameters_file + " is empty: an empty set of parameters is {}"};
  }
  auto parameters = compose_parameters(base, options.settings);
  if (!parameters.ok() && !options.parameters_file.empty())
    return parameters.error().within(options.parameters_file);
  return parameters;
}

namespace {

// FILE alone is called as it is, and so is what is in a directory.
Result<std::vector<NamedFile>> named_files(const io::Files& files, const std::string& text) {
  if (const std::size_t equals = text.find('='); equals != std::string::npos)
    return std::vector<NamedFile>{{text.substr(0, equals), text.substr(equals + 1)}};
  const io::Path path = text;
  const auto names = files.list(path);
  if (!names.ok()) return std::vector<NamedFile>{{path.filename().string(), path}};
  std::vector<NamedFile> found;
  for (const std::string& name : *names) {
    if (files.list(path / name).ok())
      return Error{
          ErrorKind::invalid,
          (path / name).string() + " is a directory: name it by itself, as inputs have no directories"};
    found.push_back({name, path / name});
  }
  if (found.empty()) return Error{ErrorKind::invalid, "there is no file in the directory " + text};
  return found;
}

}  // namespace

Result<std::vector<NamedFile>> parse_inputs(const io::Files& files, const ProblemOptions& options) {
  std::vector<NamedFile> inputs;
  std::set<std::string> names;
  std::vector<std::string> texts = options.inputs;
  if (!options.table.empty()) texts.push_back("table.csv=" + options.table);
  for (const std::string& text : texts) {
    TRY_ASSIGN(const auto more, named_files(files, text));
    for (const NamedFile& input : more) {
      if (!check_result_name(input.name).ok() || input.path.empty())
        return Error{ErrorKind::invalid, "\"" + (more.size() > 1 ? input.path.string() : text) +
                                             "\" is not NAME=FILE with a plain file name as NAME"};
      if (!names.insert(input.name).second)
        return Error{ErrorKind::invalid, "input " + input.name + " is given twice"};
      inputs.push_back(input);
    }
    if (std::cmp_greater(inputs.size(), limits::inputs_max))
      return Error{ErrorKind::too_large,
                   "a problem has at most " + std::to_string(limits::inputs_max) + " inputs"};
  }
  return inputs;
}

}  // namespace gleaner::admin

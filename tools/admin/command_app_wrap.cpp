// app wrap: the bundle of a program that somebody has already.
#include <algorithm>
#include <cstdlib>

#include "shared/json/text.h"
#include "tools/admin/commands.h"
#include "tools/admin/documents.h"
#include "tools/admin/figures.h"
#include "tools/local/wrapping.h"

namespace gleaner::admin {
namespace {

struct WrapOptions {
  local::WrapPlan plan;
  std::string program;
  std::vector<std::string> numbers;  // NAME=EXPRESSION
  std::vector<std::string> data;     // [NAME=]PATH
  std::vector<std::string> opened;   // libraries
  bool shell = false;
  std::string out;
};

// Where a shell would find it; a word with a slash is a path.
Result<io::Path> find_program(Outside& outside, const std::string& word) {
  if (word.find('/') != std::string::npos) {
    if (outside.files.exists(word)) return io::Path(word);
    return Error{ErrorKind::not_found, "there is no " + word};
  }
  const std::string path = outside.variable("PATH").value_or("/usr/bin:/bin");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const io::Path file = io::Path(path.substr(begin, end - begin)) / word;
    if (outside.files.exists(file)) return file;
    begin = end + 1;
  }
  return Error{ErrorKind::not_found, "there is no " + word + " in PATH: install it, or give its path"};
}

Status add_numbers(const std::vector<std::string>& texts, local::WrapPlan& plan) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error{ErrorKind::invalid, "\"" + text + "\" is not NAME=EXPRESSION"};
    if (!plan.numbers.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      return Error{ErrorKind::invalid, "the number " + text.substr(0, equals) + " is given twice"};
  }
  return {};
}

// NAME=PATH; PATH alone keeps its name.
std::pair<std::string, io::Path> named_data(const std::string& text) {
  if (const std::size_t equals = text.find('='); equals != std::string::npos)
    return {text.substr(0, equals), text.substr(equals + 1)};
  io::Path path = std::filesystem::path(text).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return {path.filename().string(), path};
}

// As in a shell, words are between blanks or in quotes.
std::vector<std::string> words_of(const std::string& line) {
  return CLI::detail::split_up(line);
}

// Of a person at a terminal who gave no arguments. An empty answer keeps what there is.
void ask(Outside& outside, WrapOptions& options) {
  local::WrapPlan& plan = options.plan;
  const auto text = [&](const std::string& question, std::string& into) {
    if (const auto answer = outside.ask(question); answer && !answer->empty()) into = *answer;
  };
  if (const auto answer =
          outside.ask("Its arguments for one item ({in}: the item's file, {COLUMN}: a value of a table, "
                      "{out.png}: a file "
                      "that it writes)\n  [none: file on standard input, result on standard output]: "))
    plan.arguments = words_of(*answer);
  text("The application's name [" + plan.name + "]: ", plan.name);
  text("A title for volunteers [" + plan.title + "]: ", plan.title);
  text("What is one item? [" + plan.meaning + "]: ", plan.meaning);
  text("Ending of a result's name, such as .gz [none]: ", plan.suffix);
  std::string memory;
  text("Megabytes of memory that it needs at most [" + std::to_string(plan.memory_megabytes) + "]: ", memory);
  if (const long number = std::strtol(memory.c_str(), nullptr, 10); number > 0)
    plan.memory_megabytes = number;
  const auto words = [&](const std::string& question, std::vector<std::string>& into) {
    std::string line;
    text(question, line);
    for (const std::string& word : words_of(line)) into.push_back(word);
  };
  words("Files or directories to pack as {bundle}/NAME [none]: ", options.data);
  words("Numbers to read from its output, such as 'energy=^energy (.*)' [none]: ", options.numbers);
  words("Parts of its output that differ between equal runs: png, gzip, tar, lines=EXPRESSION [none]: ",
        plan.ignore);
  std::string libraries;
  text("Take its shared libraries along? y or n [n]: ", libraries);
  plan.libraries = !libraries.empty() && (libraries.front() == 'y' || libraries.front() == 'Y');
}

void report(Session& session, const local::WrapPlan& plan, const local::WrappedBundle& made,
            const io::Path& into) {
  if (session.json()) {
    session.print_json(Document()
                           .text("name", plan.name)
                           .text("directory", into.string())
                           .json("rows", made.rows ? "true" : "false")
                           .number("bytes", made.bytes)
                           .json("libraries", json::write(made.libraries))
                           .json("missing", json::write(made.missing))
                           .json("licences", json::write(made.licences))
                           .render());
    return;
  }
  std::ostream& people = session.people();
  people << into.string() << ": " << bytes_text(made.bytes) << ", an item is "
         << (made.rows ? "a row of a table" : "an input file") << '\n';
  if (!made.libraries.empty()) people << "packed libraries: " << joined(made.libraries) << '\n';
  if (!made.licences.empty())
    people << "their licences, in " << (into / "licences").string() << ": " << joined(made.licences) << '\n';
  if (!made.missing.empty())
    people << "volunteers' computers may lack " << joined(made.missing)
           << ": --bundle-libraries takes them along\n";
  people << "next: gleaner-admin app check " << into.string()
         << (made.rows ? " --table FILE.csv" : " --input FILE") << '\n';
}

Result<ExitCode> wrap(Session& session, const WrapOptions& given) {
  Outside& outside = session.outside();
  WrapOptions options = given;
  local::WrapPlan& plan = options.plan;
  TRY_ASSIGN(plan.program, find_program(outside, options.program));
  if (plan.name.empty()) plan.name = plan.program.stem().string();
  if (plan.title.empty()) plan.title = plan.name;
  if (plan.meaning.empty()) plan.meaning = "one run of " + plan.program.filename().string();
  if (plan.arguments.empty() && !session.json()) ask(outside, options);
  TRY(add_numbers(options.numbers, plan));
  for (const std::string& data : options.data) plan.data.push_back(named_data(data));
  for (const std::string& library : options.opened) plan.opened.emplace_back(library);
  plan.library_path = outside.variable("LD_LIBRARY_PATH").value_or("");
  if (options.shell) {
    auto shell = find_program(outside, "busybox");
    if (!shell)
      return Error{ErrorKind::not_found,
                   "--shell takes busybox along, which is not in PATH: install the package busybox-static"};
    plan.shell = *std::move(shell);
  }
  const io::Path into = options.out.empty() ? io::Path(plan.name) : io::Path(options.out);
  TRY_ASSIGN(const auto made, local::make_wrapped_bundle(outside.files, outside.processes, plan, into));
  report(session, plan, made, into);
  return ExitCode::ok;
}

}  // namespace

void add_wrap_command(CLI::App& applications, Action& chosen) {
  const auto options = std::make_shared<WrapOptions>();
  CLI::App* command =
      applications.add_subcommand("wrap", "Write the bundle of a command-line program that you have");
  command->add_option("program", options->program, "the program: a path, or a name in PATH")
      ->required()
      ->type_name("PROGRAM");
  command
      ->add_option("argument", options->plan.arguments,
                   "its arguments for one item, after --; words in braces stand for what they name")
      ->type_name("ARGUMENT");
  command->add_option("--name", options->plan.name, "the application's name; else the program's")
      ->type_name("NAME");
  command->add_option("--app-version", options->plan.version, "its version")
      ->type_name("VERSION")
      ->capture_default_str();
  command->add_option("--title", options->plan.title, "a line for volunteers")->type_name("TEXT");
  command->add_option("--meaning", options->plan.meaning, "what one item is")->type_name("TEXT");
  command->add_option("--suffix", options->plan.suffix, "ending of {out}, and of standard output")
      ->type_name(".EXT");
  command
      ->add_option("--number", options->numbers,
                   "a column of the results: what the expression's parentheses match in a line of standard "
                   "output, or of "
                   "the files {out} where an argument has any (repeatable)")
      ->type_name("NAME=EXPRESSION")
      ->allow_extra_args(false);
  command
      ->add_option("--ignore", options->plan.ignore,
                   "a part of the output that differs between equal runs, such as a date: png, gzip, tar or "
                   "lines=EXPRESSION (repeatable)")
      ->type_name("PART")
      ->allow_extra_args(false);
  command
      ->add_option("--compare", options->plan.compare,
                   "a program, packed with the bundle, that the server runs with two result files: exit "
                   "status 0 if they are equal, 1 if not; for differences that --ignore cannot remove, such "
                   "as the last digits of numbers")
      ->type_name("FILE")
      ->check(CLI::ExistingFile.description(""));
  command->add_option("--data", options->data, "a file or directory to pack as {bundle}/NAME (repeatable)")
      ->type_name("[NAME=]FILE|DIR")
      ->allow_extra_args(false);
  command->add_flag("--bundle-libraries", options->plan.libraries,
                    "pack the shared libraries that it needs, their loader and their licences");
  command
      ->add_option("--library", options->opened,
                   "another shared library to pack, which the program opens at run time, with those that it "
                   "needs; implies --bundle-libraries (repeatable)")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(CLI::ExistingFile.description(""));
  command->add_flag("--shell", options->shell, "pack a static busybox, for a shell script");
  command->add_option("--memory", options->plan.memory_megabytes, "memory limit of the program in megabytes")
      ->type_name("MB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("-o,--out", options->out, "the directory to make; else NAME here")->type_name("DIR");
  command->footer(
      "In an argument {in} is the item's file, {out} or {out.png} a file that the program writes,\n"
      "{COLUMN} the value in a table's column, {file:COLUMN} the input file that it names, {row} the\n"
      "row's number, {bundle} the bundle's directory; {{ is a brace. With a column, items are rows.\n"
      "Only hosts of the platform of the computer that signs the bundle compute it.\n\n"
      "Examples:\n"
      "  gleaner-admin app wrap gzip --suffix .gz -- -9 -n\n"
      "  gleaner-admin app wrap povray --bundle-libraries --data scene.pov -- +I{bundle}/scene.pov\n"
      "      Declare=angle={angle} +W640 +H480 +O{out.png}");
  on_parse(command, chosen, options, wrap);
}

}  // namespace gleaner::admin

// reproduce: published results run again, one section of the report at a time.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <ostream>

#include "shared/terminal/print.h"
#include "tools/papers/reproduction/sections.h"
#include "tools/simulator/command/commands.h"

namespace gleaner::simulator {
namespace {

struct WantedRows {
  std::string section;
  std::string directory;
  bool list = false;
  bool full = false;
  std::uint64_t seed = 11;
};

void show_progress(Console& console, const std::string& name, double share) {
  constexpr int width = 40;
  const int done = static_cast<int>(share * width);
  console.error << terminal::Control{"\r"}
                << fmt::format("{} [{:#<{}}{:.<{}}] {:3.0f} %", name, "", done, "", width - done, 100 * share)
                << std::flush;
}

Result<int> reproduce(Console& console, const WantedRows& wanted) {
  if (wanted.list) {
    for (const SectionEntry& section : reproduction_sections()) console.out << section.name << '\n';
    return 0;
  }
  if (wanted.directory.empty()) {
    return Error{ErrorKind::invalid, "name a section and a directory: reproduce SECTION --out DIRECTORY"};
  }
  std::string names;
  for (const SectionEntry& section : reproduction_sections()) {
    names += (names.empty() ? "" : ", ") + section.name;
    if (section.name != wanted.section) continue;
    ReproductionOptions options;
    options.full = wanted.full;
    options.seed = wanted.seed;
    if (console.error_is_terminal) {
      options.progress = [&](double share) { show_progress(console, section.name, share); };
    }
    const Result<ReportSection> made = section.make(options);
    if (console.error_is_terminal) console.error << terminal::Control{"\r\033[K"};
    if (!made.ok()) return made.error();
    TRY(write_section(*made, wanted.directory));
    for (const ReportTable& table : made->tables) {
      console.out << fmt::format("{}: {}\n", table.title, name_of(table.verdict));
    }
    return 0;
  }
  return Error{ErrorKind::invalid,
               fmt::format("there is no section '{}'; choose one of {}", wanted.section, names)};
}

}  // namespace

void add_reproduce_command(CLI::App& program, Action& chosen) {
  auto* command =
      program.add_subcommand("reproduce", "runs published results again and writes a report's section");
  const auto wanted = std::make_shared<WantedRows>();
  std::string names;
  for (const SectionEntry& section : reproduction_sections()) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", section.name, section.summary);
  }
  command->add_option("section", wanted->section, names);
  command->add_option("--out", wanted->directory, "directory for Markdown, CSV and plots");
  command->add_flag("--list", wanted->list, "print the names of the sections");
  command->add_flag("--full", wanted->full, "with all seeds (within an hour for all sections)");
  command->add_option("--seed", wanted->seed, "first seed");
  on_parse(command, chosen, wanted, reproduce);
}

}  // namespace gleaner::simulator

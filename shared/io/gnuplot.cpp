#include "shared/io/gnuplot.h"

#include "shared/io/run_program.h"

namespace gleaner::io {
namespace {

constexpr const char* places[] = {"/usr/bin/gnuplot", "/usr/local/bin/gnuplot", "/opt/homebrew/bin/gnuplot"};

}  // namespace

std::optional<Path> find_gnuplot(const Files& files) {
  for (const char* place : places) {
    if (files.exists(place)) return place;
  }
  return std::nullopt;
}

Status run_gnuplot(const Files& files, ProcessRunner& processes, const Path& directory,
                   const std::string& script) {
  const auto program = find_gnuplot(files);
  if (!program)
    return Error{ErrorKind::not_found,
                 "gnuplot is not installed, and plots need it: apt-get install gnuplot-nox"};
  ProcessSpec spec;
  spec.arguments = {program->string(), "-"};  // the script is its standard input
  spec.environment = {{"LC_ALL", "C"}};
  spec.working_directory = directory;
  TRY_ASSIGN(const Ended ended, run_program(processes, spec, script));
  if (ended.exit.well()) return {};
  return Error{ErrorKind::io, "gnuplot " + ended.exit.describe() + ": " + ended.errors};
}

std::string gnuplot_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

}  // namespace gleaner::io

#include "shared/io/gnuplot.h"

#include <chrono>
#include <thread>

namespace gleaner::io {
namespace {

constexpr const char* places[] = {"/usr/bin/gnuplot", "/usr/local/bin/gnuplot", "/opt/homebrew/bin/gnuplot"};
constexpr std::chrono::milliseconds pause{2};

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
  TRY_ASSIGN(const auto process, processes.start(spec));
  std::string_view left = script;
  std::optional<ProcessExit> exit;
  bool open = true;
  while (!(exit = process->poll_exit())) {
    if (open && !left.empty()) {
      const auto written = process->write_some(left);
      if (!written.ok())
        left = {};  // it has ended: its last words say why
      else
        left.remove_prefix(*written);
    }
    if (open && left.empty()) {
      process->close_input();
      open = false;
    }
    Bytes output;
    if (process->read_some(output, 1 << 16) != ReadKind::data) std::this_thread::sleep_for(pause);
  }
  if (!exit->signalled && exit->code == 0) return {};
  return Error{ErrorKind::io, "gnuplot " + exit->describe() + ": " + process->error_tail()};
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

// A command-line program as an application. Its command stands in the file wrap.json of the bundle, written
// when a bundle whose manifest has a [wrap] section is signed (shared/bundle/wrap.h):
//
//   {"program":"bin/gzip","arguments":["-9"],"suffix":".gz","rows":false,"numbers":{},"ignore":["gzip"],"compare":""}
//
// An item is an input file, in order of the names; with `rows` it is a row of the input table.csv. Words in
// braces in an argument stand for something else, doubled braces for one:
//
//   {in}           the item's file; without it, the file is the program's standard input
//   {out} {out.E}  a file that the program writes, with the ending E; several may be named. Without any,
//                  standard output is the one that is kept, with the ending `suffix`
//   {bundle}       the directory of the bundle
//   {COLUMN}       the value in the row's column; {file:COLUMN}: the input file which that value names
//   {row}          the row's number, from 1
//
// Errors: invalid, io.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/wrap/ignored.h"
#include "shared/base/result.h"

namespace gleaner::wrap {

struct Command {
  std::filesystem::path bundle;   // absolute
  std::filesystem::path program;  // relative to it
  std::vector<std::string> arguments;
  bool rows = false;
  std::string suffix;  // the ending of standard output, and of {out}
  // Of the files that are kept of an item: one at least.
  std::vector<std::string> endings;
  bool keeps_standard_output = true;
  bool names_input = false;                                  // {in}
  std::vector<std::pair<std::string, std::string>> numbers;  // a name, and the expression that finds it
  Ignored ignored;                                           // parts of the kept files
  std::filesystem::path
      compare;  // in the bundle: decides whether two results are equal; empty: their bytes do
};

// `self`: argv[0] of a program in the bundle's bin directory.
[[nodiscard]] Result<Command> read_command(const std::filesystem::path& self);
// The same of the file's text.
[[nodiscard]] Result<Command> parse_command(std::string_view text, const std::filesystem::path& bundle);

// Where the program writes the kept file of that ending: relative to the working directory.
[[nodiscard]] std::string output_file(const std::string& ending);

// The argument with what `value_of` says for each word in braces; {out...} are known here.
[[nodiscard]] Result<std::string> expand(
    const Command& command, const std::string& argument,
    const std::function<Result<std::string>(const std::string& word)>& value_of);

}  // namespace gleaner::wrap

// A command-line program as an application: item i is what the program makes of the i-th input file, in order
// of the files' names. Its command is in the file wrap.command beside the bundle's bin directory, a line
// each: the ending that is added to a result's name (may be empty), the program (relative to the bundle),
// then its arguments. `{in}` in an argument stands for the input's path, `{out}` for that of the file to
// write; without them the input comes on standard input, the result on standard output. Written when a bundle
// whose manifest has a [wrap] section is signed (shared/bundle/wrap.h). Errors: invalid, io.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "apps/kit/problem.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::wrap {

struct Command {
  std::string suffix;
  std::filesystem::path program;       // absolute
  std::vector<std::string> arguments;  // without the program
};
// `self`: argv[0] of a program in the bundle's bin directory.
[[nodiscard]] Result<Command> read_command(const std::filesystem::path& self);

// The names of the problem's inputs, sorted. Error: there are none.
[[nodiscard]] Result<std::vector<std::string>> read_inputs(const kit::Problem& problem);

// An item: 8 bytes that check it, then what the program wrote. The check covers the input's name too, so that
// another item's bytes are noticed.
[[nodiscard]] Bytes seal(const std::string& name, std::string_view content);
[[nodiscard]] Result<std::string_view> unseal(const std::string& name, std::string_view item);

}  // namespace gleaner::wrap

#include "client/platform/helpers.h"

#include "shared/base/limits.h"
#include "shared/io/run_program.h"

namespace gleaner::platform {
namespace {

// Its exit status is an ErrorKind's number.
ErrorKind kind_of(const io::ProcessExit& exit) {
  const bool told = exit.exited() && exit.status >= static_cast<int>(ErrorKind::invalid) &&
                    exit.status <= static_cast<int>(ErrorKind::internal);
  return told ? static_cast<ErrorKind>(exit.status) : ErrorKind::io;
}

}  // namespace

io::Path find_helper(const std::string& name) {
  return io::find_helper(name, "gleaner");
}

Result<bundle::Unpack> make_unpack(io::ProcessRunner& processes, const io::Path& program) {
  if (program.empty())
    return Error{ErrorKind::not_found,
                 "the program gleaner-unpack is missing beside gleaner-client: install Gleaner again"};
  return bundle::Unpack(
      [&processes, program](const io::Path& file, const std::string& digest, const io::Path& into) -> Status {
        io::ProcessSpec spec;
        spec.arguments = {program.string(), std::filesystem::absolute(file).string(), digest,
                          std::filesystem::absolute(into).string()};
        spec.environment = {{"LC_ALL", "C"}};
        spec.limits.file_bytes = limits::bundle_bytes_max;
        spec.limits.priority = io::ProcessPriority::lowest;
        TRY_ASSIGN(const io::Ended ended, io::run_program(processes, spec, ""));
        if (ended.exit.well()) return {};
        std::string message = ended.errors;
        while (message.ends_with('\n')) message.pop_back();
        if (message.empty()) message = program.string() + " " + ended.exit.describe();
        return Error{kind_of(ended.exit), message};
      });
}

}  // namespace gleaner::platform

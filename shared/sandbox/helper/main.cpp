#include <fcntl.h>
#include <unistd.h>

#include <exception>

#include "shared/sandbox/helper/check.h"
#include "shared/sandbox/helper/enter.h"
#include "shared/sandbox/helper/options.h"
#include "shared/sandbox/helper/supervise.h"

namespace {

int run(int argc, char** argv) {
  using namespace gleaner::sandbox;
  const Options options = parse(argc, argv);
  if (options.mistake.empty() && options.command == "enter") enter(options);
  if (options.mistake.empty() && options.command == "confine") supervise(options);
  if (options.mistake.empty() && options.command == "check") return check(options);
  say(options.mistake.empty() ? "a command is needed: enter, confine or check" : options.mistake);
  return exit_usage;
}

}  // namespace

int main(int argc, char** argv) {
  // What is opened must not take the place of a standard stream that was closed.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1 && ::open("/dev/null", O_RDWR) == -1)
      return gleaner::sandbox::exit_cannot_confine;
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // no memory
    gleaner::sandbox::say(error.what());
    return gleaner::sandbox::exit_cannot_confine;
  }
}

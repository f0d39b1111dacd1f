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
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // no memory
    gleaner::sandbox::say(error.what());
    return gleaner::sandbox::exit_cannot_confine;
  }
}

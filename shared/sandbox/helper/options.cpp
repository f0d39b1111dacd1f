#include "shared/sandbox/helper/options.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace gleaner::sandbox {
namespace {

// Whole and not negative, or -1.
long number(const char* text) {
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(text, &end, 10);
  return *text == '\0' || *end != '\0' || errno != 0 || value < 0 ? -1 : value;
}

bool take(Options& options, const std::string& name, const char* value) {
  if (name == "--cgroup") {
    options.cgroups.emplace_back(value);
  } else if (name == "--read") {
    options.read.emplace_back(value);
  } else if (name == "--device") {
    options.devices.emplace_back(value);
  } else if (name == "--write") {
    options.write.emplace_back(value);
  } else if (name == "--user") {
    return (options.user = number(value)) > 0;  // never the superuser
  } else if (name == "--processes") {
    return (options.processes = number(value)) > 0;
  } else if (name == "--scratch") {
    return (options.scratch = number(value)) > 0;
  } else if (name == "--counted") {
    options.counted = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  if (argc < 2) {
    options.mistake = "a command is needed: enter, confine or check";
    return options;
  }
  options.command = argv[1];
  int at = 2;
  for (; at < argc && std::strcmp(argv[at], "--") != 0; at += 2) {
    if (options.command == "check") break;
    if (at + 1 >= argc || !take(options, argv[at], argv[at + 1])) {
      options.mistake = std::string("not understood: ") + argv[at];
      return options;
    }
  }
  if (at < argc && std::strcmp(argv[at], "--") == 0) ++at;
  options.program.assign(argv + at, argv + argc);
  if (options.program.empty() && options.command != "check") options.mistake = "no program is named after --";
  options.program.push_back(nullptr);
  return options;
}

void say(const std::string& sentence) {
  const std::string line = "gleaner-sandbox: " + sentence + "\n";
  // Nobody reads: nothing to be done.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

void give_up(const char* what) {
  say(std::string(what) + ": " + std::strerror(errno));
  ::_exit(exit_cannot_confine);
}

}  // namespace gleaner::sandbox

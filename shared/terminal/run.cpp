#include "shared/terminal/run.h"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <system_error>

#include "shared/base/paths.h"
#include "shared/terminal/print.h"
#include "shared/terminal/streams.h"

namespace gleaner::terminal {
namespace {

const char* program_name = "gleaner";
int failed_status = 1;

// One sentence for people. Called in a handler of an exception.
std::string sentence() {
  try {
    throw;
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string path = utf8_text(error.path1());
    return path.empty() ? error.what() : path + ": " + error.code().message();
  } catch (const std::bad_alloc&) {
    return "there is not enough memory: close some programs";
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) return error.what();
    return "the system starts no more threads: raise the limit of processes or of memory (ulimit -u, ulimit "
           "-v)";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "it failed for a reason that it does not know";
  }
}

void complain() noexcept {
  try {
    print(stderr, "{}: {}\n", program_name, sentence());
  } catch (...) {
    std::fputs("it failed, and there is not even memory to say why\n", stderr);
  }
}

// Of an exception in any thread. Nothing is tidied up: what matters is on disk, as after a kill.
[[noreturn]] void end_at_once() {
  if (std::current_exception() == nullptr) std::abort();
  complain();
  std::_Exit(failed_status);
}

// Has all that was printed been written? A reader that went away (`| head`) has what it wanted.
bool all_is_written() {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  if (reader_is_gone(stdout)) return true;
  print(stderr, "{}: standard output does not take all that was printed: is its disk full?\n", program_name);
  return false;
}

}  // namespace

int run(const char* name, const std::function<int()>& program, int failed) noexcept {
  program_name = name;
  failed_status = failed;
  open_missing_streams();
  std::set_terminate(end_at_once);
  try {
    clean_streams();
    const int status = program();
    return all_is_written() || status != 0 ? status : failed;
  } catch (...) {
    complain();
    return failed;
  }
}

}  // namespace gleaner::terminal

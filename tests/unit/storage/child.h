// A forked child that does something until it is killed, and reports numbers and text through a pipe. The
// child must not use the test framework: it reports what went wrong instead.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

#include "shared/base/check.h"
#include "shared/base/failpoint.h"

namespace gleaner::storage::testing {

class Child {
 public:
  class Report {
   public:
    explicit Report(int descriptor) : descriptor_(descriptor) {}
    void line(const std::string& text) const {
      const std::string bytes = text + "\n";
      CHECK_TRUE(::write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    }

   private:
    int descriptor_;
  };

  explicit Child(const std::function<void(const Report&)>& work) {
    int ends[2];
    CHECK_TRUE(::pipe(ends) == 0);
    process_ = ::fork();
    CHECK_TRUE(process_ >= 0);
    if (process_ == 0) {
      ::close(ends[0]);
      try {
        work(Report(ends[1]));
      } catch (...) {  // a failed check of the framework, which must not go on here
        Report(ends[1]).line("an exception");
        ::_exit(1);
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    descriptor_ = ends[0];
  }
  ~Child() {
    kill();
    ::close(descriptor_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The next line; nothing once the child is gone and all is read.
  std::optional<std::string> line() {
    std::string text;
    char character = 0;
    while (::read(descriptor_, &character, 1) == 1) {
      if (character == '\n') return text;
      text += character;
    }
    return std::nullopt;
  }

  void signal(int number) const { CHECK_TRUE(::kill(process_, number) == 0); }
  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
  int descriptor_ = -1;
};

// The hook of failpoints: killed when the place is reached for the countdown-th time.
inline int countdown = 0;
inline const char* killed_at = "";
inline Status kill_there(const char* name) {
  if (std::strcmp(name, killed_at) == 0 && --countdown == 0) ::raise(SIGKILL);
  return {};
}

}  // namespace gleaner::storage::testing

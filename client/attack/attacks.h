// A kernel (apps/CONTRACT.md) whose item i is an attack on the computer that it runs on. Its result is
// "held", or "open" and what was possible; many attacks end with the kernel's own end, if the sandbox holds.
// None does harm where it does not: files that are attacked are the problem's, and whatever is taken is
// bounded and given back. One thread, one attack a process.
//
// The problem's directory has `target`, lines: a file of the owner's, a file of another problem, this
// computer's host name, the client's process id and user, the bytes of disk and of memory that are allowed.
#pragma once

#include <string>
#include <vector>

namespace gleaner::attack {

struct Target {
  std::string problem;  // directory
  std::string file, other_problem, host_name;
  long client = 0, user = 0;
  long disk_bytes = 0;
  long memory_bytes = 0;
};

struct Attack {
  const char* name;
  // May the kernel be ended for it? Else its end is not what the sandbox promises.
  bool ends;
  std::string (*run)(const Target& target);
};

// What was possible that must not be.
class Findings {
 public:
  void expect_not(bool possible, const std::string& what) {
    ++tries_;
    if (possible) open_ += (open_.empty() ? "" : ", ") + what;
  }
  [[nodiscard]] std::string text() const {
    return open_.empty() ? "held: " + std::to_string(tries_) + (tries_ == 1 ? " try" : " tries")
                         : "open: " + open_;
  }

 private:
  int tries_ = 0;
  std::string open_;
};

// "held: 4096 KiB" if what was taken is no more than allowed, else open.
[[nodiscard]] std::string taken(long bytes, long allowed, const std::string& what);

// What it may see and change, whom it may reach, what it may take, when it may run.
[[nodiscard]] std::vector<Attack> attacks_on_files();
[[nodiscard]] std::vector<Attack> attacks_by_reach();
[[nodiscard]] std::vector<Attack> attacks_by_greed();
[[nodiscard]] std::vector<Attack> attacks_on_time();

}  // namespace gleaner::attack

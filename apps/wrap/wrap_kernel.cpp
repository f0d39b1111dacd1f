#include "apps/wrap/wrap_kernel.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

#include "apps/wrap/item.h"
#include "apps/wrap/items.h"
#include "shared/base/limits.h"

namespace gleaner::wrap {
namespace {

constexpr const char* words_file = "error.txt";
constexpr std::chrono::milliseconds first_look{1}, last_look{20};

// What programs print of their files is the same on every computer so: these lie elsewhere on each.
Status link_here(const char* name, const std::filesystem::path& to) {
  std::error_code failure;
  std::filesystem::remove(name, failure);
  std::filesystem::create_directory_symlink(to, name, failure);
  if (!failure) return {};
  return Error{ErrorKind::io, std::string("cannot make the link ") + name + ": " + failure.message()};
}

// The end of what the program said, from a line's begin where it was longer.
std::string end_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::int64_t>(file.tellg());
  const std::int64_t from = std::max<std::int64_t>(0, size - static_cast<std::int64_t>(last_words_bytes_max));
  if (size <= 0) return {};
  std::string words(static_cast<std::size_t>(size - from), '\0');
  file.seekg(from);
  if (!file.read(words.data(), static_cast<std::streamsize>(words.size()))) return {};
  if (from > 0) words.erase(0, words.find('\n') + 1);
  return words;
}

class WrapKernel final : public kit::Kernel {
 public:
  WrapKernel(Command command, kit::Problem problem, Items items)
      : command_(std::move(command)), problem_(std::move(problem)), items_(std::move(items)) {}

  Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (item >= items_.count()) {  // rows were appended
      TRY_ASSIGN(items_, Items::read(command_, problem_));
    }
    if (stage != 0 || item >= items_.count()) return Error{ErrorKind::invalid, "there is no such item"};
    remove_files();
    TRY_ASSIGN(const pid_t child, start(item));
    TRY_ASSIGN(const int status, wait_for(child, context));
    if (context.abandoned()) return Bytes{};
    // Whoever killed it, another computer may not.
    if (WIFSIGNALED(status))
      return Error{ErrorKind::io, program() + " was killed by signal " + std::to_string(WTERMSIG(status)) +
                                      " at " + shown(item)};
    if (WEXITSTATUS(status) != 0) {
      const std::string number = std::to_string(WEXITSTATUS(status));
      return failed(item, "exit " + number, "exited with status " + number);
    }
    TRY_ASSIGN(Bytes sealed, keep(item));
    remove_files();
    return sealed;
  }

 private:
  [[nodiscard]] std::string program() const { return command_.program.filename().string(); }
  [[nodiscard]] std::string shown(std::int64_t item) const {
    return (items_.are_rows() ? "" : "input ") + items_.name(item);
  }

  void remove_files() const {
    std::error_code ignored;
    for (const std::string& ending : command_.endings) std::filesystem::remove(output_file(ending), ignored);
    std::filesystem::remove(words_file, ignored);
  }

  // `status` for the table, `did` for a sentence.
  Result<Bytes> failed(std::int64_t item, const std::string& status, const std::string& did) const {
    if (items_.are_rows()) return seal(items_.identity(item), {status, end_of(words_file), {}});
    return Error{ErrorKind::io, program() + " " + did + " at " + shown(item)};
  }

  Result<Bytes> keep(std::int64_t item) const {
    std::vector<Bytes> files;
    Outcome outcome;
    for (const std::string& ending : command_.endings) {
      const std::string file = output_file(ending);
      std::error_code unknown;
      if (!std::filesystem::exists(file, unknown)) {
        const std::string output = "no {out" + ending + "}";
        return failed(item, output, "wrote " + output);
      }
      TRY_ASSIGN(Bytes content, kit::read_file(file, limits::item_bytes_max));
      files.push_back(command_.ignored.remove_from(std::move(content)));
    }
    outcome.files.assign(files.begin(), files.end());
    return seal(items_.identity(item), outcome);
  }

  [[nodiscard]] Result<pid_t> start(std::int64_t item) const {
    TRY_ASSIGN(std::vector<std::string> words, items_.arguments(command_, item));
    words.insert(words.begin(), (std::filesystem::path(bundle_link) / command_.program).string());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    const bool reads = !items_.are_rows() && !command_.names_input;
    const std::string from = reads ? items_.file(item).string() : "/dev/null";
    const std::string to = command_.keeps_standard_output ? output_file(command_.suffix) : "/dev/null";
    const int created = O_WRONLY | O_CREAT | O_TRUNC;
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, from.c_str(), O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, to.c_str(), created, 0600);
    if (items_.are_rows())
      ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, words_file, created, 0600);
    pid_t child = 0;
    const int failure = ::posix_spawn(&child, pointers.front(), &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failure != 0)
      return Error{ErrorKind::io, "cannot start " + words.front() + ": " + std::strerror(failure)};
    return child;
  }

  // Its exit status. Commands are heard meanwhile.
  static Result<int> wait_for(pid_t child, kit::ItemContext& context) {
    auto pause = first_look;
    for (bool ended_by_us = false;;) {
      int status = 0;
      const pid_t found = ::waitpid(child, &status, WNOHANG);
      if (found == child) return status;
      if (found < 0 && errno != EINTR)
        return Error{ErrorKind::io, std::string("cannot wait for the program: ") + std::strerror(errno)};
      context.progress(0);
      if (context.abandoned() && !ended_by_us) {
        ended_by_us = true;
        if (::kill(child, SIGKILL) != 0) return 0;  // it dies with this process
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, last_look);
    }
  }

  Command command_;
  kit::Problem problem_;
  Items items_;
};

}  // namespace

Result<std::unique_ptr<kit::Kernel>> make_kernel(const Command& command, const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  TRY(parameters.finish());
  TRY_ASSIGN(Items items, Items::read(command, problem));
  TRY(link_here(inputs_link, std::filesystem::absolute(problem.directory() / "inputs")));
  TRY(link_here(bundle_link, command.bundle));
  return std::unique_ptr<kit::Kernel>(std::make_unique<WrapKernel>(command, problem, std::move(items)));
}

}  // namespace gleaner::wrap

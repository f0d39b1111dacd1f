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
#include <thread>
#include <utility>

#include "shared/base/limits.h"

namespace gleaner::wrap {
namespace {

constexpr const char* output_file = "wrapped-output";
constexpr std::chrono::milliseconds first_look{1}, last_look{20};

std::string replaced(std::string text, std::string_view word, const std::string& by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
  return text;
}

bool mentions(const std::vector<std::string>& arguments, std::string_view word) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const std::string& text) { return text.find(word) != std::string::npos; });
}

class WrapKernel final : public kit::Kernel {
 public:
  WrapKernel(Command command, kit::Problem problem, std::vector<std::string> inputs)
      : command_(std::move(command)), problem_(std::move(problem)), inputs_(std::move(inputs)) {}

  Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (stage != 0 || std::cmp_greater_equal(item, inputs_.size()))
      return Error{ErrorKind::invalid, "there is no such item"};
    const std::string& name = inputs_[static_cast<std::size_t>(item)];
    TRY_ASSIGN(const std::filesystem::path input, problem_.input_path(name));
    std::error_code ignored;
    std::filesystem::remove(output_file, ignored);
    TRY_ASSIGN(const pid_t child, start(input));
    TRY_ASSIGN(const int status, wait_for(child, context));
    if (context.abandoned()) return Bytes{};
    if (WIFSIGNALED(status))
      return Error{ErrorKind::io, command_.program.filename().string() + " was killed by signal " +
                                      std::to_string(WTERMSIG(status)) + " at input " + name};
    if (WEXITSTATUS(status) != 0)
      return Error{ErrorKind::io, command_.program.filename().string() + " exited with status " +
                                      std::to_string(WEXITSTATUS(status)) + " at input " + name};
    TRY_ASSIGN(const Bytes content, kit::read_file(output_file, limits::item_bytes_max));
    std::filesystem::remove(output_file, ignored);
    return seal(name, content);
  }

 private:
  [[nodiscard]] Result<pid_t> start(const std::filesystem::path& input) const {
    std::vector<std::string> words{command_.program.string()};
    for (const std::string& argument : command_.arguments)
      words.push_back(replaced(replaced(argument, "{in}", input.string()), "{out}", output_file));
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    const std::string from = mentions(command_.arguments, "{in}") ? "/dev/null" : input.string();
    const std::string to = mentions(command_.arguments, "{out}") ? "/dev/null" : output_file;
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, from.c_str(), O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, to.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       0600);
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
  std::vector<std::string> inputs_;
};

}  // namespace

Result<std::unique_ptr<kit::Kernel>> make_kernel(const Command& command, const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  TRY(parameters.finish());
  TRY_ASSIGN(auto inputs, read_inputs(problem));
  return std::unique_ptr<kit::Kernel>(std::make_unique<WrapKernel>(command, problem, std::move(inputs)));
}

}  // namespace gleaner::wrap

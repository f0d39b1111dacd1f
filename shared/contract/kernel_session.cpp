#include "shared/contract/kernel_session.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <thread>
#include <utility>

#include "shared/base/check.h"
#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/contract/kernel_grammar.h"
#include "shared/contract/output_tail.h"
#include "shared/contract/words.h"
#include "shared/io/distribution.h"
#include "shared/protocol/text.h"

namespace gleaner::contract {
namespace {

using protocol::FailureKind;

// A kernel whose events nobody takes waits in its pipe; and one pump() never takes long.
constexpr std::size_t queued_bytes_max = 8 << 20;
constexpr std::size_t read_bytes_max = 64 << 10;
constexpr std::size_t pump_bytes_max = 4 << 20;

constexpr std::size_t name_shown_max = 80;  // of a library or module

// An import's name: a kernel may print what it likes.
bool is_module(std::string_view name) {
  return !name.empty() && name.size() <= name_shown_max &&
         std::all_of(name.begin(), name.end(), [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '_' || letter == '.';
         });
}

bool lacks_library(std::string_view last) {
  return last.find("error while loading shared libraries: ") != std::string_view::npos;
}

FailureKind kind_of(const io::ProcessExit& exit) {
  return exit.cause == io::ProcessExit::Cause::over_limit ? FailureKind::resource_limit
                                                          : FailureKind::kernel_crashed;
}

// Before it said a word: as env, xargs and the dynamic loader end when they cannot start a program, and what
// confines it. Something is missing on this computer.
bool never_started(const io::ProcessExit& exit, const std::string& last_words) {
  constexpr int cannot_prepare = 125, not_found = 127;  // and 126: cannot be executed
  if (!exit.exited()) return false;
  return (exit.status >= cannot_prepare && exit.status <= not_found) || last_words.starts_with("bwrap: ");
}

std::string_view last_line(std::string_view words) {
  const auto end = words.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  const auto before = words.rfind('\n', end);  // npos + 1 is 0
  return words.substr(before + 1, end - before);
}

// What stands between the two; empty: they do not.
std::string_view between(std::string_view text, std::string_view left, std::string_view right) {
  const auto begin = text.find(left);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + left.size());
  const auto end = text.find(right);
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end);
}

// What is missing, and what to do about it, by the last line of Python or of the dynamic loader.
std::string remedy_for(std::string_view last, Modules modules) {
  const std::string alone = ", or leave the application to other computers";
  constexpr std::string_view unopened = ": cannot open shared object file";
  if (const auto found = last.find(unopened); found != std::string_view::npos) {
    const std::string_view before = last.substr(0, found);
    const auto space = before.rfind(' ');  // npos + 1 is 0
    const std::string library = protocol::clean_line(before.substr(space + 1), name_shown_max);
    if (lacks_library(last))
      return ": it needs the shared library " + library +
             ", and programs find only the system's C and C++ libraries and those of the bundle. The author "
             "of the application has to take it along";
    return ": this computer lacks the shared library " + library +
           ", which the application needs. Install the package that has it" + alone;
  }
  const auto named = between(last, "No module named '", "'");
  const std::string module = is_module(named) ? " " + std::string(named) : std::string();
  if (modules == Modules::undeclared)
    return ": it does not find " + (module.empty() ? "a Python module" : "the Python module" + module) +
           ". The manifest declares none in `needs`, so that kernels have only Python's own and those of the "
           "bundle. The author of the application has to declare it or take it along";
  if (module.empty())
    return ": this computer lacks a Python module that the application needs. Install it for all users" +
           alone;
  return ": this computer lacks the Python module" + module +
         ", which the application needs. Install it for all users (" + io::install_python_module(named) +
         ")" + alone;
}

// As Python ends where a module is not installed, or needs a library that is not there; at a kernel's start,
// or later where it imports what it needs.
bool lacks_module(const io::ProcessExit& exit, std::string_view last_words) {
  if (!exit.exited() || exit.status == 0) return false;
  const std::string_view last = last_line(last_words);
  return last.starts_with("ModuleNotFoundError: ") || last.starts_with("ImportError: ");
}

}  // namespace

struct KernelSession::State {
  State(std::unique_ptr<io::Process> started, std::int64_t item_bytes_max, Modules found)
      : process(std::move(started)), modules(found), grammar(item_bytes_max) {}

  std::unique_ptr<io::Process> process;
  Modules modules;
  KernelGrammar grammar;
  OutputTail output;
  std::int64_t errors_seen = 0;     // bytes of standard error that are in it
  std::string outgoing;             // commands not written yet
  std::optional<std::int64_t> end;  // to be sent once `outgoing` is empty: later ones replace earlier ones
  bool checkpoint = false;          // the same
  bool quitting = false;
  bool input_broken = false;           // it does not listen any more
  bool output_closed = false;          // it cannot speak any more
  bool killed = false;                 // by us
  bool ended = false;                  // reaped, and all it said was read
  std::optional<KernelEvent> failure;  // comes after all other events
  bool failed = false;

  void write();
  enum class Reading { all, more };
  Reading read();
  void fail(FailureKind kind, const std::string& text);
  [[nodiscard]] std::optional<io::ProcessExit> await_exit() const;
  void conclude(const io::ProcessExit& exit);
};

void KernelSession::State::write() {
  if (outgoing.empty() && !quitting) {
    if (end) outgoing += "end " + std::to_string(*end) + "\n";
    if (checkpoint) outgoing += "checkpoint\n";
    end.reset();
    checkpoint = false;
  }
  if (!outgoing.empty() && !input_broken) {
    const auto written = process->write_some(outgoing);
    input_broken =
        !written.ok();  // it is ending, or will be told nothing any more: its output and exit show which
    if (written.ok()) outgoing.erase(0, *written);
  }
  if (quitting && (outgoing.empty() || input_broken)) process->close_input();
}

KernelSession::State::Reading KernelSession::State::read() {
  Bytes chunk;
  for (std::size_t total = 0; total < pump_bytes_max && grammar.queued_bytes() < queued_bytes_max;) {
    chunk.clear();
    switch (process->read_some(chunk, read_bytes_max)) {
      case io::ReadKind::data:
        break;
      case io::ReadKind::would_block:
        return Reading::all;
      case io::ReadKind::closed:
        output_closed = true;
        return Reading::all;
    }
    total += chunk.size();
    grammar.feed(chunk);
  }
  return Reading::more;
}

void KernelSession::State::fail(FailureKind kind, const std::string& text) {
  if (failed || quitting) return;
  failed = true;
  KernelEvent event;
  event.kind = KernelEvent::Kind::failed;
  event.failure = kind;
  event.text = protocol::clean_text("the kernel " + text + last_words(process->error_tail()),
                                    limits::message_length_max);
  failure = std::move(event);
}

// A program's output ends a moment before the program does, and what confines it passes its exit on a moment
// later.
std::optional<io::ProcessExit> KernelSession::State::await_exit() const {
  for (int tries = 0; tries < 100; ++tries) {
    if (auto exit = process->poll_exit()) return exit;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return std::nullopt;
}

void KernelSession::State::conclude(const io::ProcessExit& exit) {
  ended = true;
  const std::string words = process->error_tail();
  const bool never = !grammar.greeted() && never_started(exit, words);
  if (killed && output_closed)
    fail(FailureKind::bad_output, "closed its standard output " + grammar.occupation());
  else if (lacks_module(exit, words) || (never && lacks_library(last_line(words))))
    fail(FailureKind::not_executable,
         exit.describe() + " " + grammar.occupation() + remedy_for(last_line(words), modules));
  else
    fail(never ? FailureKind::not_executable : kind_of(exit), exit.describe() + " " + grammar.occupation());
  if (failure && !killed) failure->killed = exit.by_others();
}

KernelSession::KernelSession(std::unique_ptr<io::Process> process, std::int64_t item_bytes_max,
                             Modules modules)
    : state_(std::make_unique<State>(std::move(process), item_bytes_max, modules)) {
  CHECK_TRUE(state_->process != nullptr);
  state_->outgoing = "gleaner 1\n";
}

KernelSession::~KernelSession() = default;

void KernelSession::set_problem(const io::Path& directory) {
  CHECK_TRUE(idle());
  const std::string path = utf8_text(directory);
  if (path.find('\n') != std::string::npos)
    return state_->fail(FailureKind::kernel_error, "cannot be given the directory " + in_quotes(path) +
                                                       ": rename it without the line feed");
  state_->grammar.problem_sent();
  state_->outgoing += "problem " + path + "\n";
}

void KernelSession::start_unit(int stage, Range range, bool from_checkpoint) {
  CHECK_TRUE(idle());
  state_->grammar.unit_sent(range);
  state_->end.reset();
  state_->outgoing += "unit " + std::to_string(stage) + " " + std::to_string(range.begin) + " " +
                      std::to_string(range.end) + (from_checkpoint ? " checkpoint" : "") + "\n";
}

void KernelSession::trim(std::int64_t end) {
  if (state_->grammar.end_sent(end)) state_->end = std::max<std::int64_t>(end, 0);
}

void KernelSession::request_checkpoint() {
  if (state_->failed || state_->quitting || state_->checkpoint) return;
  if (!state_->grammar.offers_checkpoints() || state_->grammar.idle()) {
    KernelEvent none;
    none.kind = KernelEvent::Kind::checkpointed;
    none.item = -1;
    return state_->grammar.add_event(std::move(none));
  }
  state_->checkpoint = true;
  state_->grammar.checkpoint_sent();
}

void KernelSession::quit() {
  if (state_->quitting) return;
  state_->quitting = true;
  state_->outgoing += "quit\n";
}

void KernelSession::pump() {
  State& state = *state_;
  if (state.ended) return;
  if (!state.failed) state.write();
  auto exit = state.process->poll_exit();  // before reading: then all that it wrote is there to be read
  const auto reading = state.failed ? State::Reading::all : state.read();
  if (const std::int64_t all = state.process->error_bytes(); all > state.errors_seen)
    state.output.add(state.process->errors_since(std::exchange(state.errors_seen, all)));
  if (state.grammar.offence()) state.fail(state.grammar.offence()->kind, state.grammar.offence()->text);
  if (!exit && state.output_closed && !state.quitting && !state.failed && !state.killed)
    exit = state.await_exit();
  if (exit && reading == State::Reading::all) {
    state.conclude(*exit);
  } else if (state.failed || (state.output_closed && !state.quitting)) {
    state.killed = true;
    state.process->end_tree();
  }
}

std::optional<KernelEvent> KernelSession::next_event() {
  if (auto event = state_->grammar.next_event()) {
    if (event->kind == KernelEvent::Kind::log) state_->output.add_log(event->text);
    return event;
  }
  return std::exchange(state_->failure, std::nullopt);
}

std::int64_t KernelSession::talk_bytes() const {
  return state_->grammar.talk_bytes() + state_->process->error_bytes();
}

const std::string& KernelSession::output() const {
  return state_->output.text();
}

bool KernelSession::offers_checkpoints() const {
  return state_->grammar.offers_checkpoints();
}

bool KernelSession::idle() const {
  return state_->grammar.idle() && !state_->failed && !state_->quitting && !state_->ended;
}

bool KernelSession::finished() const {
  return state_->ended;
}

io::Process& KernelSession::process() {
  return *state_->process;
}

}  // namespace gleaner::contract

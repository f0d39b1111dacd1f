#include "apps/kit/kernel.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <new>

#include "apps/kit/channel.h"
#include "apps/kit/words.h"
#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/base/words.h"

namespace gleaner::kit {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds look_interval{1};        // between looks at standard input
constexpr std::chrono::milliseconds progress_interval{500};  // "at most a few times a second"
constexpr const char* checkpoint_file = "checkpoint";
constexpr std::int64_t checkpoint_bytes_max = limits::item_bytes_max;

// The checkpoint file: `gleaner-checkpoint 1 STAGE ITEM\n` and the kernel's own bytes.
std::string checkpoint_header(int stage, std::int64_t item) {
  return "gleaner-checkpoint 1 " + std::to_string(stage) + " " + std::to_string(item) + "\n";
}

class KernelServer final : ItemContext {
 public:
  KernelServer(const KernelFactory& factory, Checkpoints checkpoints, int input, int output, int threads)
      : factory_(factory), checkpoints_(checkpoints), channel_(input, output), threads_(threads) {}

  int run() {
    const Status served = serve();
    if (served.ok()) return 0;
    std::fprintf(stderr, "kernel: %s\n", served.error().message.c_str());
    return 1;
  }

 private:
  enum class State { idle, computing, quitting };

  Status serve() {
    while (state_ != State::quitting) {
      TRY_ASSIGN(const std::optional<std::string> line, next_line());
      if (!line) break;
      TRY(handle(*line));
      TRY(channel_.flush());
    }
    return channel_.flush();
  }

  Result<std::optional<std::string>> next_line() {
    if (deferred_.empty()) return channel_.read_line(Wait::yes);
    std::optional<std::string> line = std::move(deferred_.front());
    deferred_.pop_front();
    return line;
  }

  Status answer_error(std::string_view text) { return channel_.put_line("error " + one_line(text)); }

  Status handle(const std::string& line) {
    Words words(line);
    const std::string_view command = words.next();
    if (command == "quit") {
      state_ = State::quitting;
      return {};
    }
    if (command == "gleaner") return greet(words);
    if (!greeted_) return answer_error("the first command must be: gleaner 1");
    if (command == "problem") return load(words);
    if (command == "unit") return run_unit(words);
    if (command == "end") return {};  // it came after `done`
    if (command == "checkpoint") return channel_.put_line("checkpoint none");
    return answer_error("unknown command");
  }

  Status greet(Words& words) {
    if (words.rest() != "1") return answer_error("this kernel speaks version 1 of the contract");
    greeted_ = true;
    return channel_.put_line(checkpoints_ == Checkpoints::offered ? "ready 1 checkpoint" : "ready 1");
  }

  Status load(Words& words) {
    kernel_.reset();
    const std::string directory(words.rest());
    if (directory.empty()) return answer_error("problem: no directory given");
    try {
      auto loaded = factory_(Problem(utf8_path(directory)));
      if (!loaded.ok()) return answer_error(loaded.error().message);
      kernel_ = std::move(loaded).value();
    } catch (const std::bad_alloc&) {
      return answer_error("out of memory while reading the problem");
    } catch (const std::exception& exception) {
      return answer_error(exception.what());
    }
    return channel_.put_line("ok");
  }

  Status run_unit(Words& words) {
    const auto stage = words.number();
    const auto range = words.range();
    const std::string_view option = words.rest();
    const bool known_option = option.empty() || option == "checkpoint";
    if (!stage || *stage >= limits::stages_max || !range || !known_option) {
      return answer_error("expected: unit STAGE BEGIN END [checkpoint]");
    }
    if (!kernel_) return answer_error("no problem was given");
    stage_ = static_cast<int>(*stage);
    item_ = range->begin;
    end_ = range->end;
    restored_.reset();
    if (option == "checkpoint") restore();
    state_ = State::computing;
    const Status computed = compute_items();
    if (state_ == State::computing) state_ = State::idle;
    return computed;
  }

  Status compute_items() {
    while (item_ < end_) {
      TRY(look(Looking::between_items));
      if (state_ == State::quitting) return {};
      if (item_ >= end_) break;
      Result<Bytes> bytes = compute_one();
      restored_.reset();
      save_ = nullptr;
      TRY(std::exchange(failure_, Status{}));
      if (state_ == State::quitting) return {};
      if (item_ >= end_) break;  // trimmed away while it ran
      if (!bytes.ok()) return answer_error(bytes.error().message);
      if (bytes->size() > static_cast<std::size_t>(limits::item_bytes_max)) {
        return answer_error("an item is larger than 512 MiB");
      }
      TRY(channel_.put_item(item_, *bytes));
      ++item_;
    }
    return channel_.put_line("done " + std::to_string(item_));
  }

  Result<Bytes> compute_one() {
    reported_ = SteadyClock::now();
    try {
      return kernel_->compute(stage_, item_, *this);
    } catch (const std::bad_alloc&) {
      return Error{ErrorKind::internal, "out of memory"};
    } catch (const std::exception& exception) {
      return Error{ErrorKind::internal, exception.what()};
    }
  }

  // Commands that arrive while computing. Anything but these waits, with all that follows it, for the unit's
  // end; only `quit` is heard at once.
  enum class Looking { between_items, within_item };
  Status look(Looking where) {
    const auto now = SteadyClock::now();
    if (now - looked_ < look_interval) return {};
    looked_ = now;
    while (state_ == State::computing) {
      TRY_ASSIGN(std::optional<std::string> line, channel_.read_line(Wait::no));
      if (!line) {
        if (channel_.ended()) state_ = State::quitting;
        return {};
      }
      Words words(*line);
      const std::string_view command = words.next();
      if (command == "quit") {
        state_ = State::quitting;
      } else if (!deferred_.empty()) {
        TRY(defer(std::move(*line)));
      } else if (command == "end") {
        const auto end = words.number();
        if (!end || !words.ended()) return Error{ErrorKind::invalid, "expected: end NEWEND"};
        end_ = std::max(std::min(end_, *end), std::int64_t{0});
      } else if (command == "checkpoint") {
        TRY(save_checkpoint(where));
      } else {
        TRY(defer(std::move(*line)));
      }
    }
    return {};
  }

  Status defer(std::string line) {
    constexpr std::size_t deferred_max = 64;
    if (deferred_.size() == deferred_max) return Error{ErrorKind::invalid, "too many commands during a unit"};
    deferred_.push_back(std::move(line));
    return {};
  }

  Status save_checkpoint(Looking where) {
    if (where == Looking::between_items || !save_) return channel_.put_line("checkpoint none");
    if (Status saved = write_file(checkpoint_file, checkpoint_header(stage_, item_) + save_()); !saved.ok()) {
      TRY(channel_.put_line("log " + one_line(saved.error().message)));
      TRY(channel_.put_line("checkpoint none"));
    } else {
      TRY(channel_.put_line("checkpoint " + std::to_string(item_)));
    }
    return channel_.flush();
  }

  // A checkpoint that cannot be used costs time, never correctness: the item starts anew.
  void restore() {
    auto bytes = read_file(checkpoint_file, checkpoint_bytes_max);
    const std::string header = checkpoint_header(stage_, item_);
    if (bytes.ok() && bytes->starts_with(header)) {
      restored_ = bytes->substr(header.size());
    } else {
      log(bytes.ok() ? "the checkpoint is of another item; starting anew" : bytes.error().message);
    }
  }

  void progress(double fraction) override {
    if (!failure_.ok()) return;
    if (failure_ = look(Looking::within_item); !failure_.ok()) return;
    const auto now = SteadyClock::now();
    if (now - reported_ < progress_interval || abandoned()) return;
    reported_ = now;
    char text[80];
    const double clamped = fraction > 0 ? std::min(fraction, 1.0) : 0.0;  // a NaN counts as 0
    std::snprintf(text, sizeof text, "progress %lld %.4f", static_cast<long long>(item_), clamped);
    failure_ = channel_.put_line(text);
    if (failure_.ok()) failure_ = channel_.flush();
  }

  [[nodiscard]] bool abandoned() const override {
    return item_ >= end_ || state_ == State::quitting || !failure_.ok();
  }
  [[nodiscard]] int threads() const override { return threads_; }
  void log(std::string_view text) override {
    if (failure_.ok()) failure_ = channel_.put_line("log " + one_line(text));
    if (failure_.ok()) failure_ = channel_.flush();
  }
  [[nodiscard]] std::optional<Bytes> restored() override { return restored_; }
  void offer_checkpoint(std::function<Bytes()> save) override {
    if (checkpoints_ == Checkpoints::offered) save_ = std::move(save);
  }

  const KernelFactory& factory_;
  const Checkpoints checkpoints_;
  Channel channel_;
  const int threads_;
  bool greeted_ = false;
  State state_ = State::idle;
  std::unique_ptr<Kernel> kernel_;
  std::deque<std::string> deferred_;
  // The unit in hand
  int stage_ = 0;
  std::int64_t item_ = 0;  // first item not written
  std::int64_t end_ = 0;
  std::optional<Bytes> restored_;
  std::function<Bytes()> save_;
  Status failure_;  // of the channel, met while the kernel was computing
  SteadyClock::time_point looked_{};
  SteadyClock::time_point reported_{};
};

int threads_allowed() {
  const char* text = std::getenv("GLEANER_THREADS");
  const auto threads = Words(text ? text : "").number();
  return threads && *threads >= 1 && *threads <= 4096 ? static_cast<int>(*threads) : 1;
}

}  // namespace

int serve_kernel(const KernelFactory& factory, Checkpoints checkpoints, int input, int output, int threads) {
  return KernelServer(factory, checkpoints, input, output, threads).run();
}

int kernel_main(const KernelFactory& factory, Checkpoints checkpoints) {
  std::signal(SIGPIPE, SIG_IGN);  // a client that is gone shows as an error of write()
  try {
    return serve_kernel(factory, checkpoints, 0, 1, threads_allowed());
  } catch (const std::exception& exception) {  // no memory, even for a word
    std::fprintf(stderr, "the kernel failed: %s\n", exception.what());
    return 1;
  }
}

}  // namespace gleaner::kit

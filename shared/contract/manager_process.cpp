#include "shared/contract/manager_process.h"

#include <algorithm>
#include <utility>

#include "shared/base/limits.h"
#include "shared/contract/words.h"
#include "shared/protocol/text.h"

namespace gleaner::contract {
namespace {

using namespace std::chrono_literals;

constexpr Duration write_pause = 1ms;  // nothing tells of room in its input
constexpr Duration farewell = 500ms;
constexpr Duration watch_interval = 1s;
constexpr Duration reaping = 1s;
constexpr std::size_t read_bytes = 64 << 10;
constexpr std::size_t write_bytes = 1 << 20;

SteadyTime now() {
  return system_clock().steady();
}

// Waits until there is something to read, or it is closed. Callers look again and know the time.
void wait_readable(io::Waitable output, Duration at_most) {
  (void)io::wait_any({&output, 1}, at_most);
}

}  // namespace

ManagerProcess::~ManagerProcess() {
  if (!usable()) return;
  process_->resume();
  (void)process_->write_some("quit\n");  // if it does not listen, it is killed
  process_->close_input();
  const SteadyTime end = now() + farewell;
  while (now() < end && read() != Reading::closed) {
    heard_.clear();
    wait_readable(process_->output_waitable(), end - now());
  }
}

bool ManagerProcess::usable() {
  return !broken_ && !process_->poll_exit();
}

Status ManagerProcess::command(std::string_view line, Duration limit, std::string_view more) {
  limit_ = limit;
  deadline_ = now() + limit;
  resting_ = false;
  process_->resume();
  TRY(end_of_answer());  // of what it did before
  doing_ = "at \"" + std::string(line.substr(0, line.find(' '))) + "\"";
  std::string said(line);
  said += '\n';
  said += more;
  return bytes(said);
}

Status ManagerProcess::bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = process_->write_some(bytes.substr(0, write_bytes));
    if (!written.ok()) return ended();
    bytes.remove_prefix(*written);
    TRY(look());
    if (*written > 0) continue;
    // It may be talking while it should listen; if we did not read, both would wait for ever.
    if (read() == Reading::closed) return ended();
    if (heard_.size() > line_bytes_max) return failed("talks instead of reading what it was given");
    if (!wait_for_output(write_pause)) return failed("did not read what it was given in time");
  }
  return {};
}

Result<std::string> ManagerProcess::line() {
  for (;;) {
    TRY(look());
    const auto end = heard_.find('\n', searched_);
    if (end != std::string::npos && end < line_bytes_max) {
      std::string line = heard_.substr(0, end);
      heard_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = heard_.size();
    if (searched_ >= line_bytes_max)
      return failed("wrote a line longer than " + std::to_string(line_bytes_max) + " bytes");
    const bool in_time = wait_for_output(limit_);
    switch (read()) {  // what came in the last moment counts
      case Reading::got:
        break;
      case Reading::closed:
        return ended();
      case Reading::nothing:
        if (in_time) break;
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(limit_).count();
        return failed("did not answer within " + std::to_string(seconds) + " s");
    }
  }
}

void ManagerProcess::more_time() {
  deadline_ = now() + limit_;
}

void ManagerProcess::rest() {
  if (broken_) return;
  process_->suspend();
  resting_ = true;
  standstill_.begin(1);
  cpu_at_rest_.reset();
}

Status ManagerProcess::look_at_rest() {
  if (broken_ || !resting_ || process_->poll_exit()) return {};
  const Duration cpu = process_->cpu_time();
  const Duration before = std::exchange(cpu_at_rest_, cpu).value_or(cpu);
  switch (standstill_.look(cpu - before)) {
    case io::Standstill::Verdict::still:
      return {};
    case io::Standstill::Verdict::stop_again:
      process_->suspend();
      return {};
    case io::Standstill::Verdict::end:
      return failed(standstill_.words());
  }
  return {};
}

Status ManagerProcess::look() {
  if (!watch_ || now() < look_at_) return {};
  look_at_ = now() + watch_interval;
  const std::string excess = watch_(*process_);
  if (!excess.empty()) return failed(excess);
  return {};
}

Status ManagerProcess::end_of_answer() {
  (void)read();  // a closed pipe shows at the next line
  if (heard_.empty()) return {};
  return failed("said " + in_quotes(heard_.substr(0, heard_.find('\n'))) + " without a request");
}

Error ManagerProcess::nonsense(std::string_view line, const std::string& expected) {
  return failed("said " + in_quotes(line) + "; expected " + expected);
}

ManagerProcess::Reading ManagerProcess::read() {
  switch (process_->read_some(heard_, read_bytes)) {
    case io::ReadKind::data:
      return Reading::got;
    case io::ReadKind::would_block:
      return Reading::nothing;
    case io::ReadKind::closed:
      return Reading::closed;
  }
  return Reading::closed;
}

bool ManagerProcess::wait_for_output(Duration at_most) {
  const Duration left = deadline_ - now();
  if (left <= Duration{0}) return false;
  wait_readable(process_->output_waitable(), std::min({at_most, left, watch_interval}));
  return true;
}

Error ManagerProcess::failed(const std::string& what) {
  broken_ = true;
  const std::string text =
      "the application's manager " + what + " (" + doing_ + ")" + last_words(process_->error_tail());
  process_->end_tree();
  return {ErrorKind::unavailable, protocol::clean_text(text, limits::message_length_max)};
}

// Its pipes are closed: it has ended, is about to, or lives on without them.
Error ManagerProcess::ended() {
  const SteadyTime end = now() + reaping;
  auto exit = process_->poll_exit();
  while (!exit && now() < end) {
    wait_readable({}, 1ms);
    exit = process_->poll_exit();
  }
  if (!exit) return failed("closed its standard input or output");
  Error error = failed(exit->describe());
  if (exit->by_others()) error.kind = ErrorKind::io;
  return error;
}

}  // namespace gleaner::contract

#include "shared/contract/manager_session.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/contract/manager_answers.h"
#include "shared/contract/manager_process.h"
#include "shared/contract/words.h"
#include "shared/protocol/text.h"

namespace gleaner::contract {
namespace {

// A manager that combines shows that it works by progress of at least this much; less does not gain it time.
constexpr double progress_step = 0.001;

// What is said to a manager before it answers: less than a pipe holds (64 KiB on Linux), so that it is said
// whether it listens or talks.
constexpr std::size_t ahead_bytes_max = 48 << 10;

// Somebody waits for a preview: it has one time limit, whatever progress it makes.
enum class Time { grows, fixed };

// `error TEXT`: the manager has understood and refuses.
Error refusal(std::string_view line) {
  Words words(line);
  words.next();
  const std::string text = protocol::clean_line(words.rest(), limits::message_length_max / 2);
  return {ErrorKind::invalid,
          "the application says: " + (text.empty() ? "an error, without saying which" : text)};
}

bool is_refusal(std::string_view line) {
  return line == "error" || line.starts_with("error ");
}

Status check_path(const io::Path& path) {
  if (utf8_text(path).find('\n') == std::string::npos) return {};
  return Error{ErrorKind::invalid, "the path " + in_quotes(utf8_text(path)) + " has a line feed: rename it"};
}

std::string words_of(Range range) {
  return std::to_string(range.begin) + " " + std::to_string(range.end);
}

std::string text_of(const std::vector<Origin>& origins) {
  std::string text;
  for (const Origin& origin : origins) {
    char seconds[40];
    std::snprintf(seconds, sizeof seconds, "%.3f", origin.seconds);
    text += words_of(origin.range) + " " + (origin.seconds < 0 ? "-" : seconds) + " " +
            protocol::clean_line(origin.host, limits::message_length_max) + "\n";
  }
  return text;
}

}  // namespace

struct ManagerSession::State {
  io::ProcessRunner& runner;
  io::ProcessSpec spec;
  io::Path problem;
  io::Path work;
  Duration time_limit;
  ManagerProcess::Watch watch;
  std::unique_ptr<ManagerProcess> process;
  bool pipeline = false;        // it may be told the next before it has answered
  bool reads_origins = false;   // it is told who computed what it combines
  bool appends = false;         // its problems may become longer
  bool tells_failures = false;  // it knows results that say that their items failed
  std::size_t alone_until = 0;  // segments before this are asked about one by one

  // Until it goes, the process may compute.
  struct Turn {
    State& state;
    explicit Turn(State& all) : state(all) {}
    ~Turn() {
      if (state.process) state.process->rest();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
  };
  // A process that has accepted the problem.
  Status ensure();
  // Its answer to `gleaner 1`, with what it offers.
  Status greet();
  // Asks about the segments that have no outcome yet, one at least, as many as it may be told at once.
  void validate(const std::vector<Segment>& segments, std::vector<Result<Validation>>& outcomes);
  Result<Validation> verdict();
  // Says `line` to it; the answer follows.
  Status command(const std::string& line);
  // The next line of the answer, unless it is `error`.
  Result<std::string> line();
  // The whole answer must be the line `expected`.
  Status expect(const std::string& expected);
  // Says `word` with the stage and a list of these; the answer follows.
  Status command_over(const std::string& word, int stage, const std::vector<Piece>& pieces,
                      const std::vector<Origin>& origins);
  Result<std::vector<CombinedFile>> combine(const Progress& progress, Time time);
};

Status ManagerSession::State::ensure() {
  if (process && process->usable()) return {};
  process.reset();
  TRY(check_path(problem));
  TRY(check_path(work));
  std::error_code fault;
  std::filesystem::create_directories(work, fault);
  if (fault)
    return Error{ErrorKind::io,
                 "cannot create the manager's directory " + utf8_text(work) + ": " + fault.message()};
  spec.working_directory = work;
  TRY_ASSIGN(auto started, runner.start(spec));
  process = std::make_unique<ManagerProcess>(std::move(started), watch);
  Status accepted = process->command("gleaner 1", time_limit);
  if (accepted.ok()) accepted = greet();
  if (accepted.ok()) accepted = process->command("problem " + utf8_text(problem), time_limit);
  if (accepted.ok()) accepted = expect("ok");
  if (!accepted.ok()) process.reset();
  return accepted;
}

Status ManagerSession::State::command(const std::string& line) {
  TRY(ensure());
  return process->command(line, time_limit);
}

Result<std::string> ManagerSession::State::line() {
  TRY_ASSIGN(std::string line, process->line());
  if (is_refusal(line)) return refusal(line);
  return line;
}

Status ManagerSession::State::expect(const std::string& expected) {
  TRY_ASSIGN(const std::string heard, line());
  if (heard == expected) return {};
  return process->nonsense(heard, expected);
}

Status ManagerSession::State::greet() {
  TRY_ASSIGN(const std::string heard, line());
  if (heard != "ready 1" && !heard.starts_with("ready 1 ")) return process->nonsense(heard, "ready 1");
  const auto offers = [&heard](const char* word) { return (heard + " ").find(word) != std::string::npos; };
  pipeline = offers(" pipeline ");
  reads_origins = offers(" origins ");
  appends = offers(" appends ");
  tells_failures = offers(" failures ");
  return {};
}

Result<Validation> ManagerSession::State::verdict() {
  TRY_ASSIGN(const std::string heard, line());
  Words words(heard);
  const std::string_view verdict = words.next();
  if (heard == "valid") return Validation{};
  if (heard == "enough") return Validation{Verdict::enough, {}};
  if (verdict == "invalid")
    return Validation{Verdict::invalid, protocol::clean_line(words.rest(), limits::message_length_max)};
  return process->nonsense(heard, "valid, enough, or invalid and a reason");
}

void ManagerSession::State::validate(const std::vector<Segment>& segments,
                                     std::vector<Result<Validation>>& outcomes) {
  const auto words_for = [](const Segment& segment) {
    return "validate " + std::to_string(segment.stage) + " " + words_of(segment.range) + " " +
           std::to_string(segment.bytes.size());
  };
  const std::size_t begin = outcomes.size();
  if (const Status ready = ensure(); !ready.ok()) return outcomes.push_back(ready.error());
  std::string ahead(segments[begin].bytes);
  std::size_t end = begin + 1;
  for (; pipeline && begin >= alone_until && end < segments.size(); ++end) {
    const Segment& segment = segments[end];
    if (ahead.size() + segment.bytes.size() > ahead_bytes_max) break;
    ahead += words_for(segment) + "\n";
    ahead += segment.bytes;
  }
  const std::string mark = "mark " + std::to_string(end);
  if (end > begin + 1) ahead += mark + "\n";
  Status said = process->command(words_for(segments[begin]), time_limit, ahead);
  while (said.ok() && outcomes.size() < end) {
    outcomes.push_back(verdict());
    if (!outcomes.back().ok() && !process->usable()) said = outcomes.back().error();
    process->more_time();
  }
  if (end == begin + 1) {
    if (outcomes.size() == begin) outcomes.push_back(said.error());
    return;
  }
  // With a word too many or too few nobody knows whose the others were: each is asked about alone.
  if (said.ok()) said = expect(mark);
  if (said.ok()) return;
  outcomes.erase(outcomes.begin() + static_cast<std::ptrdiff_t>(begin), outcomes.end());
  alone_until = end;
}

Status ManagerSession::State::command_over(const std::string& word, int stage,
                                           const std::vector<Piece>& pieces,
                                           const std::vector<Origin>& origins) {
  TRY(ensure());
  std::string list;
  for (const Piece& piece : pieces) {
    TRY(check_path(piece.path));
    list += words_of(piece.range) + " " + std::to_string(piece.first) + " " +
            utf8_text(std::filesystem::absolute(piece.path)) + "\n";
  }
  const io::Path list_file = problem / utf8_path(word + "-" + std::to_string(stage) + ".list");
  TRY(io::real_files().write(list_file, list, io::Mode::normal));
  if (reads_origins)
    TRY(io::real_files().write(with_suffix(list_file, ".origins"), text_of(origins), io::Mode::normal));
  return command(word + " " + std::to_string(stage) + " " + utf8_text(std::filesystem::absolute(list_file)));
}

Result<std::vector<CombinedFile>> ManagerSession::State::combine(const Progress& progress, Time time) {
  CombineAnswer answer(work);
  double shown = 0;
  for (;;) {
    TRY_ASSIGN(const std::string heard, line());
    const Hearing hearing = answer.take(heard);
    if (const auto* fault = std::get_if<Fault>(&hearing)) return process->nonsense(heard, fault->expected);
    switch (std::get<Heard>(hearing)) {
      case Heard::more:
        break;
      case Heard::progress:
        if (answer.fraction() < shown + progress_step) break;
        shown = answer.fraction();
        if (time == Time::grows) process->more_time();
        if (progress) progress(shown);
        break;
      case Heard::end:
        return std::move(answer.files());
    }
  }
}

ManagerSession::ManagerSession(io::ProcessRunner& runner, io::ProcessSpec spec, io::Path problem,
                               io::Path work, Duration time_limit, Watch watch)
    : state_(new State{runner, std::move(spec), std::move(problem), std::move(work), time_limit,
                       std::move(watch), nullptr}) {}

ManagerSession::~ManagerSession() = default;

Status ManagerSession::check() {
  const State::Turn turn(*state_);
  return state_->ensure();
}

Status ManagerSession::look_at_rest() {
  return state_->process ? state_->process->look_at_rest() : Status{};
}

Result<StagePlan> ManagerSession::plan(int stage) {
  const State::Turn turn(*state_);
  TRY(state_->command("plan " + std::to_string(stage)));
  PlanAnswer answer(state_->work);
  for (;;) {
    TRY_ASSIGN(const std::string line, state_->line());
    const Hearing hearing = answer.take(line);
    if (const auto* fault = std::get_if<Fault>(&hearing)) {
      const Error nonsense = state_->process->nonsense(line, fault->expected);
      if (line != "items 0") return nonsense;
      // That has a meaning, and asking again would not change it.
      return Error{ErrorKind::invalid, "the application planned no items: check the problem's parameters"};
    }
    if (std::get<Heard>(hearing) == Heard::end) return std::move(answer.plan());
  }
}

Result<Validation> ManagerSession::validate(int stage, Range range, std::string_view segment) {
  return std::move(validate({Segment{stage, range, segment}}).front());
}

std::vector<Result<Validation>> ManagerSession::validate(const std::vector<Segment>& segments) {
  const State::Turn turn(*state_);
  std::vector<Result<Validation>> outcomes;
  state_->alone_until = 0;
  while (outcomes.size() < segments.size()) state_->validate(segments, outcomes);
  return outcomes;
}

Result<ManagerSession::Agreement> ManagerSession::compare(int stage, std::int64_t item, std::string_view a,
                                                          std::string_view b) {
  const State::Turn turn(*state_);
  TRY(state_->command("compare " + std::to_string(stage) + " " + std::to_string(item) + " " +
                      std::to_string(a.size()) + " " + std::to_string(b.size())));
  TRY(state_->process->bytes(a));
  TRY(state_->process->bytes(b));
  TRY_ASSIGN(const std::string line, state_->line());
  constexpr std::string_view failed = "different failed: ";
  if (line == "same") return Agreement{true};
  if (line.starts_with(failed))
    return Agreement{false, protocol::clean_line(line.substr(failed.size()), limits::message_length_max)};
  if (line == "different" || line.starts_with("different ")) return Agreement{};
  return state_->process->nonsense(line, "same, or different and a reason");
}

Result<std::vector<CombinedFile>> ManagerSession::combine(int stage, const std::vector<Piece>& pieces,
                                                          const std::vector<Origin>& origins,
                                                          const Progress& progress) {
  const State::Turn turn(*state_);
  TRY(state_->command_over("combine", stage, pieces, origins));
  return state_->combine(progress, Time::grows);
}

Result<std::vector<CombinedFile>> ManagerSession::preview(int stage, const std::vector<Piece>& pieces,
                                                          const std::vector<Origin>& origins) {
  const State::Turn turn(*state_);
  TRY(state_->command_over("preview", stage, pieces, origins));
  return state_->combine({}, Time::fixed);
}

Result<bool> ManagerSession::appends() {
  const State::Turn turn(*state_);
  TRY(state_->ensure());
  return state_->appends;
}

Result<std::vector<Range>> ManagerSession::failed(int stage, const std::vector<Piece>& pieces) {
  const State::Turn turn(*state_);
  TRY(state_->ensure());
  if (!state_->tells_failures)
    return Error{ErrorKind::invalid, "the application does not say which of its items failed"};
  TRY(state_->command_over("failed", stage, pieces, {}));
  RangeSet given;
  for (const Piece& piece : pieces) given.add(piece.range);
  std::vector<Range> failed;
  for (;;) {
    TRY_ASSIGN(const std::string heard, state_->line());
    if (heard == "ok") return failed;
    Words words(heard);
    const bool named = words.next() == "failed";
    const auto range = words.range();
    const bool in_order = range && (failed.empty() || range->begin >= failed.back().end);
    if (!named || !in_order || range->empty() || !words.ended() || !given.contains(*range))
      return state_->process->nonsense(heard, "ok, or failed BEGIN END of items in the list, in order");
    failed.push_back(*range);
  }
}

}  // namespace gleaner::contract

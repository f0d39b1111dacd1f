#include "tools/admin/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shared/base/limits.h"
#include "shared/protocol/text.h"
#include "shared/terminal/print.h"
#include "tools/admin/figures.h"

namespace gleaner::admin {
namespace {

using protocol::ProblemInfo;
using protocol::ProblemState;

std::string repeated(const char* piece, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece;
  return text;
}

std::string stage_text(const ProblemInfo& problem) {
  std::string text = protocol::name_of(problem.state);
  if (problem.stage > 0 || !problem.stage_name.empty()) {
    text += fmt::format(" stage {}", problem.stage + 1);
    if (!problem.stage_name.empty()) text += " (" + problem.stage_name + ")";
  }
  return text;
}

// What happened so far; zeros are shown too, so that the line keeps its shape.
std::string counts_text(const ProblemInfo& problem) {
  return fmt::format("{}, {} open, {}, {} recovered, {}", counted(problem.units, "unit"),
                     count_text(problem.open_units), counted(problem.splits, "split"),
                     count_text(problem.recovered), counted(problem.duplicates, "duplicate"));
}

std::string speed_text(const ProblemInfo& problem) {
  const bool has_costs =
      problem.cost > 0 && std::abs(problem.cost - static_cast<double>(problem.items)) > 0.5;
  std::string text = figure_text(problem.rate) + (has_costs ? " cost/s" : " items/s");
  text += ", " + time_left_text(problem);
  return text + ", " + counted(problem.hosts, "host");
}

}  // namespace

std::string progress_bar(double fraction, int width, const Display& display) {
  const int inner = std::max(width - 2, 1);
  const double clamped = std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0;
  // Full only when all is done.
  const int full = static_cast<int>(std::floor(clamped * inner));
  return "[" + repeated(display.unicode ? "█" : "#", full) +
         repeated(display.unicode ? "░" : ".", inner - full) + "]";
}

std::string time_left(const ProblemInfo& problem) {
  if (problem.eta_seconds > 0 && problem.eta_low_seconds >= 0)
    return span_text(problem.eta_low_seconds, problem.eta_high_seconds);
  return duration_text(problem.eta_seconds);
}

std::string time_left_text(const ProblemInfo& problem) {
  if (ended(problem.state)) return "-";
  return problem.eta_seconds < 0 ? "time left not known yet" : time_left(problem) + " left";
}

std::string waits_text(const ProblemInfo& problem) {
  if (problem.waits.empty()) return {};
  return "waits: " + protocol::clean_line(problem.waits, limits::message_length_max);
}

double fraction_of(const ProblemInfo& problem) {
  if (problem.done >= 0) return problem.done;
  // As of a server that does not tell: of the stage.
  if (problem.state == ProblemState::finished) return 1;
  if (problem.cost > 0) return problem.cost_accepted / problem.cost;
  if (problem.items > 0) return static_cast<double>(problem.accepted) / static_cast<double>(problem.items);
  return 0;
}

std::string wasted_text(const ProblemInfo& problem) {
  if (problem.wasted >= 0) return percent_text(problem.wasted, 1);
  const double computed = problem.cost_accepted + problem.wasted_cost;
  return computed > 0 ? percent_text(problem.wasted_cost, computed) : "0 %";
}

Tint tint_of(ProblemState state) {
  switch (state) {
    case ProblemState::finished:
      return Tint::good;
    case ProblemState::paused:
      return Tint::warning;
    case ProblemState::failed:
    case ProblemState::stopped:
    case ProblemState::cancelled:
      return Tint::bad;
    case ProblemState::planning:
    case ProblemState::running:
    case ProblemState::combining:
      return Tint::none;
  }
  return Tint::none;
}

bool ended(ProblemState state) {
  switch (state) {
    case ProblemState::finished:
    case ProblemState::cancelled:
    case ProblemState::failed:
      return true;
    case ProblemState::planning:
    case ProblemState::running:
    case ProblemState::paused:
    case ProblemState::combining:
    case ProblemState::stopped:
      return false;
  }
  return false;
}

std::vector<std::string> progress_lines(const ProblemInfo& problem, const Display& display) {
  const double fraction = fraction_of(problem);
  const std::string percent = fmt::format("{:>7}", percent_text(fraction, 1));
  const std::string items =
      fmt::format("{}/{} items", count_text(problem.accepted), count_text(problem.items));
  const std::string name = fmt::format("{} {}", problem.id.value, problem.name);
  const std::string elapsed = duration_text(problem.elapsed_seconds);
  const std::string waits = waits_text(problem);
  if (!display.terminal) {
    return {fmt::format("{}: {} {} {}, {}, {}, {}, elapsed {}{}", name, stage_text(problem),
                        progress_bar(fraction, 22, display), percent, items, speed_text(problem),
                        counts_text(problem), elapsed, waits.empty() ? "" : ", " + waits)};
  }
  const std::string tail = fmt::format(" {}  {}", percent, items);
  const int room = display.columns - 1 - columns_of(tail);
  const int width = display.columns - 1;
  std::vector<std::string> lines{
      fit(name + "  " + stage_text(problem) + "  " + speed_text(problem), width),
      fit((room >= 8 ? progress_bar(fraction, std::min(room, 60), display) : "") + tail, width),
      fit(counts_text(problem) + "  " + elapsed, width)};
  if (!waits.empty()) lines.push_back(fit(waits, width));
  return lines;
}

std::string ending_text(const ProblemInfo& problem) {
  const std::string name = fmt::format("problem {} ({})", problem.id.value, problem.name);
  const std::string message = protocol::clean_line(problem.message, limits::message_length_max);
  if (problem.state == ProblemState::finished) {
    return fmt::format("{} finished in {}: {}, {}, {}, {} of the computing wasted", name,
                       duration_text(problem.elapsed_seconds), counted(problem.units, "unit"),
                       counted(problem.splits, "split"), counted(problem.duplicates, "duplicate"),
                       wasted_text(problem));
  }
  if (problem.state == ProblemState::stopped) {
    constexpr std::string_view mark = "stopped: ";  // the state says so
    return name + " is stopped: " + (message.starts_with(mark) ? message.substr(mark.size()) : message);
  }
  return name + " " + (problem.state == ProblemState::failed ? "failed" : "was cancelled") +
         (message.empty() ? "" : ": " + message);
}

void LiveText::draw(const std::vector<std::string>& lines) {
  clear();
  for (const std::string& line : lines) out_ << line << '\n';
  out_ << std::flush;
  drawn_ = lines.size();
}

void LiveText::clear() {
  if (display_.terminal)
    for (std::size_t i = 0; i < drawn_; ++i) out_ << terminal::Control{"\x1b[1A\x1b[2K"};
  drawn_ = 0;
}

}  // namespace gleaner::admin

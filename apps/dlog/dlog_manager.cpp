#include "apps/dlog/dlog_manager.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "apps/dlog/settings.h"
#include "apps/kit/portable_math.h"
#include "apps/kit/svg.h"

namespace gleaner::dlog {
namespace {

// The work is Rayleigh distributed: more than eight times its mean is needed once in 10^21 problems.
constexpr double planned_for = 8;
constexpr std::int64_t items_min = 16;
constexpr std::size_t checked_points = 32;  // of one segment; two powers each
constexpr const char* points_file = "points.bin";

// The chance that a collision has come by then, `part` being steps made by steps expected.
double solved_by(double part) {
  constexpr double pi = 3.141592653589793;
  return 1 - kit::portable_exp(-pi / 4 * part * part);
}

std::string chart(double part) {
  kit::Curve curve{"chance of an answer by then", {}};
  for (int i = 0; i <= 120; ++i) curve.points.emplace_back(i / 40.0, 100 * solved_by(i / 40.0));
  kit::Curve now{"work done", {{std::min(part, 3.0), 0}, {std::min(part, 3.0), 100}}};
  return kit::draw_chart(
      "Discrete logarithm by Pollard's rho",
      {"steps made, as a multiple of those expected", 0, 3, {{0, "0"}, {1, "1"}, {2, "2"}, {3, "3"}}},
      {"%", 0, 100, {{0, "0"}, {50, "50"}, {100, "100"}}}, {curve, now});
}

std::string decimals(double value) {
  char text[60];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

}  // namespace

Status DlogManager::check(const kit::Problem& problem) {
  TRY_ASSIGN(group_, read_settings(problem));
  collisions_.reset();
  return {};
}

std::int64_t DlogManager::items() const {
  const double steps = std::ldexp(static_cast<double>(group_.walks), group_.distinguished_bits);
  return std::max(items_min,
                  static_cast<std::int64_t>(std::ceil(planned_for * group_.expected_steps() / steps)));
}

Result<std::optional<kit::Stage>> DlogManager::plan(int stage) {
  if (stage > 0) return std::optional<kit::Stage>{};
  TRY(kit::write_file("group.txt", group_.text()));
  return std::optional(kit::Stage{items(), "walks", {}, {{"group", "group.txt", std::nullopt}}});
}

Status DlogManager::check_points(const Points& points) const {
  const auto invalid = [](const char* why) { return Error{ErrorKind::invalid, why}; };
  const std::int64_t steps_max = patience << group_.distinguished_bits;
  if (points.steps < group_.walks || points.steps > group_.walks * steps_max)
    return invalid("it made another number of steps than its walks do");
  // A walk is given up only after its patience.
  const std::int64_t given_up = group_.walks - static_cast<std::int64_t>(points.points.size());
  if (given_up * steps_max > points.steps) return invalid("walks are missing");
  std::random_device device;
  for (const Point& point : points.points) {
    if (!is_distinguished(group_, point.element)) return invalid("a point is not distinguished");
    const bool chosen =
        points.points.size() <= checked_points || device() % points.points.size() < checked_points;
    if (chosen && !is_right(group_, point)) return invalid("a point is not the element that it says");
  }
  return {};
}

Result<kit::Validation> DlogManager::validate(int stage, kit::SegmentReader& segment) {
  using Verdict = kit::Validation::Verdict;
  if (!collisions_) collisions_.emplace(group_, points_file);
  std::vector<Point> all;
  kit::Validation verdict =
      kit::check_each(segment, stage == 0 ? items() : 0, "item",
                      [&](std::int64_t /*item*/, std::string_view bytes) -> Status {
                        TRY_ASSIGN(const Points points, decode(group_, bytes));
                        TRY(check_points(points));
                        all.insert(all.end(), points.points.begin(), points.points.end());
                        return {};
                      });
  if (verdict.verdict == Verdict::invalid || !segment.framing().ok())
    return verdict;  // the kit tells of framing
  TRY(collisions_->add(all));
  if (collisions_->solution()) verdict.verdict = Verdict::enough;
  return verdict;
}

Status DlogManager::report(kit::ItemSource& items, kit::Output& output, bool last) {
  if (!collisions_) collisions_.emplace(group_, points_file);
  // What was accepted was validated, so that its points are known, unless a crash took the last of them.
  double steps = 0;
  std::int64_t points = 0;
  for (;;) {
    TRY_ASSIGN(const std::optional<kit::Item> item, items.next());
    if (!item) break;
    TRY_ASSIGN(const Points some, decode(group_, item->bytes));
    TRY(collisions_->add(some.points));
    steps += static_cast<double>(some.steps);
    points += static_cast<std::int64_t>(some.points.size());
    output.progress(items.fraction());
  }
  const auto& x = collisions_->solution();
  if (last && !x)
    return Error{ErrorKind::internal, "no collision in " + std::to_string(planned_for) +
                                          " times the steps expected: try another `seed`"};
  std::string answer = "{\n  \"p\": \"" + to_text(group_.p) + "\",\n  \"q\": \"" + to_text(group_.q) +
                       "\",\n  \"g\": \"" + to_text(group_.g) + "\",\n  \"y\": \"" + to_text(group_.y) +
                       "\",\n  \"x\": ";
  answer += x ? "\"" + to_text(*x) + "\"" : "null";
  answer += std::string(",\n  \"verified\": ") + (x ? "true" : "false") + "\n}\n";
  TRY(kit::write_file(output.directory() / "answer.json", answer));
  output.result("answer.json", "application/json");
  const double part = steps / group_.expected_steps();
  TRY(kit::write_file(output.directory() / "work.txt",
                      "steps of accepted items: " + decimals(steps) + "\nsteps expected: " +
                          decimals(group_.expected_steps()) + "\npart: " + decimals(part) +
                          "\nchance of an answer by then: " + decimals(100 * solved_by(part)) +
                          " %\ndistinguished points: " + std::to_string(points) + " (one in 2^" +
                          std::to_string(group_.distinguished_bits) + " elements)\n"));
  output.result("work.txt", "text/plain");
  TRY(kit::write_file(output.directory() / "work.svg", chart(part)));
  output.result("work.svg", "image/svg+xml");
  return {};
}

Status DlogManager::combine(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "dlog has one stage: 0"};
  TRY(items.require_within(this->items()));
  return report(items, output, true);
}

Status DlogManager::preview(int stage, kit::ItemSource& items, kit::Output& output) {
  if (stage != 0) return Error{ErrorKind::invalid, "dlog has one stage: 0"};
  TRY(items.require_within(this->items()));
  return report(items, output, false);
}

}  // namespace gleaner::dlog

#include "client/program/view_publisher.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/json/text.h"

namespace gleaner::program {
namespace {

view::PictureKind kind_of(const std::string& name) {
  if (name == "rows") return view::PictureKind::rows;
  if (name == "heat") return view::PictureKind::heat;
  if (name == "tour") return view::PictureKind::tour;
  if (name == "tiles") return view::PictureKind::tiles;
  if (name == "cells") return view::PictureKind::cells;
  return view::PictureKind::quilt;
}

view::Value value_of(const std::string& name) {
  if (name == "grey8") return view::Value::grey8;
  if (name == "uint16") return view::Value::uint16;
  if (name == "uint32") return view::Value::uint32;
  if (name == "uint64") return view::Value::uint64;
  if (name == "float32") return view::Value::float32;
  if (name == "float64") return view::Value::float64;
  if (name == "escape") return view::Value::escape;
  return view::Value::rgb8;
}

view::View view_of(const engine::EngineStatus& status) {
  view::View view;
  view.project = status.project_name;
  view.host = status.host_name;
  view.mode = status.mode;
  view.reason = status.reason;
  view.items_run = status.items_accepted;
  const auto whole = [](double seconds) { return static_cast<std::int64_t>(seconds); };
  view.given = {whole(status.core_seconds_today), whole(status.core_seconds_week),
                whole(status.core_seconds_year)};
  for (const engine::SlotStatus& slot : status.slots) {
    if (view.cores.size() == view::cores_shown_max) break;
    view.cores.push_back({slot.state, slot.problem, slot.range.begin, slot.finished, slot.range.end});
  }
  return view;
}

std::string states_of(const view::View& view) {
  std::string all = view.mode;
  for (const view::CoreView& core : view.cores) all += "\n" + core.state + "\n" + core.problem;
  return all;
}

}  // namespace

Duration patience_between(const view::View& shown, const view::View& now) {
  if (states_of(shown) != states_of(now)) return Duration{0};
  return shown.reason == now.reason ? ViewPublisher::calm_interval : ViewPublisher::rest_interval;
}

view::PictureSpec spec_of(const bundle::ViewDeclaration& declared, int stage, const std::string& parameters) {
  view::PictureSpec spec;
  if (stage != declared.stage) return spec;
  const json::Value given = json::parse_or_null(parameters);
  const auto parameter = [&](const std::string& name, std::int64_t otherwise) {
    if (name.empty() || !given[name].is_integer()) return otherwise;
    return std::clamp<std::int64_t>(given[name].integer(), 0, limits::items_max);
  };
  spec.kind = kind_of(declared.kind);
  spec.value = value_of(declared.value);
  spec.rows = parameter(declared.rows, declared.rows_default);
  spec.columns = parameter(declared.columns, declared.columns_default) + declared.columns_more;
  spec.lines = parameter(declared.lines, declared.lines_default);
  spec.tile_part = declared.tile_part;
  spec.tile_min = declared.tile_min;
  spec.tile_max = declared.tile_max;
  spec.inside = parameter(declared.inside, declared.inside_default);
  spec.skip = declared.skip;
  return spec;
}

Status ViewPublisher::open(const io::Path& file) {
  TRY_ASSIGN(writer_, platform::ViewWriter::create(file));
  return {};
}

void ViewPublisher::item_finished(const engine::Unit& unit, std::int64_t index, std::string_view bytes) {
  if (!writer_ || !unit.prepared) return;
  const SteadyTime now = clock_.steady();
  const protocol::Grant& grant = unit.grant();
  const io::Path project = unit.held->directory().parent_path().parent_path();
  const bool same_problem = shown_ && shown_->problem == grant.problem && shown_->project == project;
  const bool same = same_problem && shown_->stage == grant.stage;
  if (!same) {
    const bundle::Manifest& manifest = unit.prepared->manifest;
    // One picture at a time; but of one problem, the declared one goes first.
    const bool awaited = same_problem && grant.stage == manifest.view.stage;
    if (shown_ && !awaited && now - shown_->last_item < stay) return;
    shown_.emplace(Shown{grant.problem,
                         project,
                         grant.stage,
                         view::Picture(spec_of(manifest.view, grant.stage, grant.parameters)),
                         {},
                         now});
    shown_->facts.number = ++pictures_;
    shown_->facts.problem = grant.problem_name;
    shown_->facts.application = manifest.title;
    shown_->facts.meaning = manifest.item_meaning;
    if (const Status dropped = writer_->drop_picture(); !dropped.ok())
      spdlog::warn("nothing is shown to viewers: {}", dropped.error().message);
  }
  shown_->picture.add(index, bytes);
  shown_->last_item = now;
  items_ = true;
}

SteadyTime ViewPublisher::wait_until() const {
  return writer_ && items_ ? written_at_ + interval : SteadyTime::max();
}

void ViewPublisher::publish(const engine::Engine& engine, SteadyTime now) {
  if (!writer_ || now < written_at_ + interval) return;
  const engine::EngineStatus status = engine.status();
  if (!items_ && now < written_at_ + patience_between(last_, view_of(status))) return;
  written_at_ = now;
  items_ = false;
  if (const Status written = write(status); !written.ok()) {
    spdlog::warn("nothing is shown to viewers: {}", written.error().message);
    writer_.reset();
    shown_.reset();
  }
}

Status ViewPublisher::write(const engine::EngineStatus& status) {
  view::View view = view_of(status);
  view.written = to_microseconds(clock_.now());
  if (shown_ && shown_->picture.width() > 0) {
    view::Picture& picture = shown_->picture;
    const view::Band rows = picture.take_changes();
    TRY(writer_->write_rows(picture.pixels(), picture.width(), rows));
    if (!rows.empty()) ++shown_->facts.change;
    shown_->facts.width = picture.width();
    shown_->facts.height = picture.height();
    shown_->facts.items = picture.items();
    view.picture = shown_->facts;
  }
  const std::string key = shown_ ? utf8_text(shown_->project.filename()) : "";
  for (const engine::ProjectStatus& project : status.projects)
    if (project.key == key) view.project = project.name;
  for (const engine::ProblemStatus& problem : status.problems) {
    if (!shown_ || problem.problem != shown_->problem.value || problem.project != key) continue;
    view.project_items = problem.items;
    view.project_done_millionths = std::llround(1e6 * problem.done);
    view.project_hosts = problem.hosts;
  }
  last_ = view;
  return writer_->write_head(view::encode_head(view));
}

}  // namespace gleaner::program

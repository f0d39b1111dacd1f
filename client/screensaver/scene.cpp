#include "client/screensaver/scene.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gleaner::screensaver {
namespace {

constexpr std::size_t glows_max = 48;       // at a time
constexpr double glow_light = 0.6;          // of a row that is just finished
constexpr double glow_part_max = 0.25;      // of the picture: if more changes at once, nothing glows
constexpr double drift_reach = 0.008;       // of the width
constexpr double drift_turn_seconds = 700;  // once around
constexpr double enlarged_most = 3;         // a small picture stays one

struct Colour {
  double red, green, blue;
};
constexpr Colour bright{0.93, 0.95, 0.98};
constexpr Colour calm{0.60, 0.66, 0.74};
constexpr Colour accent{0.95, 0.55, 0.16};
constexpr Colour faint{0.17, 0.20, 0.26};

void use(cairo_t* cairo, const Colour& colour, double opacity = 1) {
  cairo_set_source_rgba(cairo, colour.red, colour.green, colour.blue, opacity);
}

double text_width(cairo_t* cairo, const std::string& text) {
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, text.c_str(), &extents);
  return extents.x_advance;
}

// Cut at the end, between characters, if it is wider.
std::string fitted(cairo_t* cairo, std::string text, double width) {
  if (text_width(cairo, text) <= width) return text;
  while (!text.empty()) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0U) == 0x80) text.pop_back();
    if (!text.empty()) text.pop_back();
    if (text_width(cairo, text + "…") <= width) return text + "…";
  }
  return text;
}

void write_line(cairo_t* cairo, const std::string& text, double x, double y, double width, double size,
                const Colour& colour, bool bold, bool from_right) {
  cairo_select_font_face(cairo, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo, size);
  use(cairo, colour);
  const std::string line = fitted(cairo, text, width);
  cairo_move_to(cairo, from_right ? x + width - text_width(cairo, line) : x, y);
  cairo_show_text(cairo, line.c_str());
}

class Drawing {
 public:
  explicit Drawing(cairo_surface_t* surface) : cairo_(cairo_create(surface)) {}
  ~Drawing() { cairo_destroy(cairo_); }
  Drawing(const Drawing&) = delete;
  Drawing& operator=(const Drawing&) = delete;
  operator cairo_t*() const { return cairo_; }  // NOLINT(google-explicit-constructor): used as one

 private:
  cairo_t* cairo_;
};

}  // namespace

Scene::Scene(int width, int height, SteadyTime now)
    : width_(width),
      height_(height),
      image_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)),
      base_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height)),
      writing_(writing_of({})),
      begun_(now),
      drift_at_(now) {
  lay_out(now);
}

const unsigned char* Scene::image() const {
  return cairo_image_surface_get_data(image_.get());
}

int Scene::stride() const {
  return cairo_image_surface_get_stride(image_.get());
}

bool Scene::write_png(const std::string& file) const {
  return cairo_surface_write_to_png(image_.get(), file.c_str()) == CAIRO_STATUS_SUCCESS;
}

void Scene::lay_out(SteadyTime now) {
  all_ = true;
  rows_.clear();
  glows_.clear();
  drift_at_ = now + drift_interval;
  const double turn = 2 * 3.14159265358979 * to_seconds(now - begun_) / drift_turn_seconds;
  const double reach = drift_reach * width_;
  const auto shift_x = static_cast<int>(std::lround(reach * std::sin(turn)));
  const auto shift_y = static_cast<int>(std::lround(reach * (std::cos(turn) - 1) / 2));
  const int margin = std::max(4, width_ / 40);
  const int text_height = std::clamp(height_ / 6, 30, 150);
  text_place_ = {margin + shift_x, height_ - text_height - margin / 2 + shift_y, width_ - 2 * margin,
                 text_height};
  picture_place_ = {};
  if (!picture_) return;
  const int columns = cairo_image_surface_get_width(picture_.get());
  const int rows = cairo_image_surface_get_height(picture_.get());
  const double room_x = std::max(8.0, width_ - 2.0 * margin);
  const double room_y = std::max(8.0, height_ - text_height - 2.0 * margin);
  scale_ = std::min({room_x / columns, room_y / rows, enlarged_most});
  picture_place_.width = std::max(1, static_cast<int>(columns * scale_));
  picture_place_.height = std::max(1, static_cast<int>(rows * scale_));
  picture_place_.x = (width_ - picture_place_.width) / 2 + shift_x;
  picture_place_.y = margin + static_cast<int>((room_y - picture_place_.height) / 2) + shift_y;
}

void Scene::copy_row(const Bytes& pixels, int row) {
  const int columns = cairo_image_surface_get_width(picture_.get());
  const auto* from =
      reinterpret_cast<const unsigned char*>(pixels.data()) + std::ptrdiff_t{3} * columns * row;
  unsigned char* const line =
      cairo_image_surface_get_data(picture_.get()) +
      static_cast<std::ptrdiff_t>(cairo_image_surface_get_stride(picture_.get())) * row;
  for (int x = 0; x < columns; ++x, from += 3) {
    const std::uint32_t pixel = std::uint32_t{from[0]} << 16 | std::uint32_t{from[1]} << 8 | from[2];
    std::memcpy(line + std::ptrdiff_t{4} * x, &pixel, sizeof pixel);
  }
}

void Scene::take_pixels(const Bytes& pixels, SteadyTime now) {
  const int rows = cairo_image_surface_get_height(picture_.get());
  const std::size_t row_bytes = pixels.size() / static_cast<std::size_t>(rows);
  std::vector<view::Band> changed;
  int count = 0;
  cairo_surface_flush(picture_.get());
  for (int row = 0; row < rows; ++row) {
    const std::size_t at = static_cast<std::size_t>(row) * row_bytes;
    if (std::memcmp(pixels.data() + at, pixels_.data() + at, row_bytes) == 0) continue;
    copy_row(pixels, row);
    ++count;
    if (!changed.empty() && changed.back().end == row)
      changed.back().end = row + 1;
    else
      changed.push_back({row, row + 1});
  }
  cairo_surface_mark_dirty(picture_.get());
  pixels_ = pixels;
  if (count > glow_part_max * rows || changed.size() > glows_max) {
    rows_ = {{0, rows}};
    return;
  }
  for (const view::Band& band : changed) {
    rows_.push_back(band);
    if (glows_.size() < glows_max) glows_.push_back({band, now});
  }
}

void Scene::show(const std::optional<view::View>& view, const Bytes& pixels, SteadyTime now) {
  const bool was_dimmed = dimmed();
  const std::int64_t old_number = view_ ? view_->picture.number : -1;
  const bool old_cores = view_ && view && view_->cores == view->cores;
  view_ = view;
  const bool picture = view && view->picture.width > 0 &&
                       static_cast<std::int64_t>(pixels.size()) == view::picture_bytes(view->picture);
  if (!picture && picture_) {
    picture_.reset();
    pixels_.clear();
    lay_out(now);
  }
  if (picture) {
    const bool same = picture_ && view->picture.number == old_number && pixels.size() == pixels_.size() &&
                      cairo_image_surface_get_width(picture_.get()) == view->picture.width;
    if (same) {
      if (pixels != pixels_) take_pixels(pixels, now);
    } else {
      picture_.reset(
          cairo_image_surface_create(CAIRO_FORMAT_RGB24, view->picture.width, view->picture.height));
      for (int row = 0; row < view->picture.height; ++row) copy_row(pixels, row);
      cairo_surface_mark_dirty(picture_.get());
      pixels_ = pixels;
      lay_out(now);
    }
  }
  if (dimmed() != was_dimmed) all_ = true;
  Writing writing = writing_of(view);
  if (writing == writing_ && old_cores) return;
  writing_ = std::move(writing);
  text_ = true;
}

Rect Scene::place_of(view::Band rows) const {
  const int above = picture_place_.y + static_cast<int>(std::floor(rows.begin * scale_)) - 1;
  const int below = picture_place_.y + static_cast<int>(std::ceil(rows.end * scale_)) + 1;
  const int top = std::clamp(above, 0, height_);
  const int left = std::clamp(picture_place_.x, 0, width_);
  return {left, top, std::min(picture_place_.width, width_ - left), std::clamp(below, top, height_) - top};
}

void Scene::draw_ground(cairo_t* cairo) const {
  cairo_pattern_t* const ground = cairo_pattern_create_linear(0, 0, 0, height_);
  cairo_pattern_add_color_stop_rgb(ground, 0, 0.030, 0.040, 0.065);
  cairo_pattern_add_color_stop_rgb(ground, 1, 0.075, 0.100, 0.150);
  cairo_set_source(cairo, ground);
  cairo_paint(cairo);
  cairo_pattern_destroy(ground);
}

void Scene::draw_picture(cairo_t* cairo) const {
  if (!picture_) return;
  const Rect& place = picture_place_;
  cairo_save(cairo);
  cairo_rectangle(cairo, place.x, place.y, place.width, place.height);
  cairo_clip(cairo);
  cairo_translate(cairo, place.x, place.y);
  cairo_scale(cairo, scale_, scale_);
  cairo_set_source_surface(cairo, picture_.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_BILINEAR);
  cairo_pattern_set_extend(cairo_get_source(cairo), CAIRO_EXTEND_PAD);
  cairo_paint_with_alpha(cairo, dimmed() ? 0.5 : 1);
  cairo_restore(cairo);
}

// A bar for each core: how far the piece in hand is.
void Scene::draw_cores(cairo_t* cairo, double x, double y, double width) const {
  if (!view_ || view_->cores.empty()) return;
  const double gap = 4;
  const auto count = static_cast<double>(view_->cores.size());
  const double each = (width - gap * (count - 1)) / count;
  for (const view::CoreView& core : view_->cores) {
    use(cairo, faint);
    cairo_rectangle(cairo, x, y, each, 4);
    cairo_fill(cairo);
    const auto size = static_cast<double>(core.end - core.begin);
    const double part =
        size > 0 ? std::clamp(static_cast<double>(core.finished - core.begin) / size, 0.0, 1.0) : 0;
    use(cairo, accent, core.state == "running" ? 1 : 0.4);
    cairo_rectangle(cairo, x, y, each * part, 4);
    cairo_fill(cairo);
    x += each + gap;
  }
}

void Scene::draw_text(cairo_t* cairo) const {
  const Rect& place = text_place_;
  const double unit = place.height / 6.0;
  draw_cores(cairo, place.x, place.y + 0.4 * unit, place.width);
  const double left = 0.56 * place.width;
  const double right = place.width - left - unit;
  const double top = place.y + 2.2 * unit;
  write_line(cairo, writing_.title, place.x, top, left, 1.25 * unit, bright, true, false);
  write_line(cairo, writing_.sentence, place.x, top + 1.5 * unit, writing_.here.empty() ? place.width : left,
             0.72 * unit, calm, false, false);
  if (view_)
    write_line(cairo, view_->host.empty() ? view_->project : view_->host + "  ·  " + view_->project, place.x,
               top + 2.9 * unit, left, 0.62 * unit, calm, false, false);
  const double column = place.x + place.width - right;
  write_line(cairo, writing_.here, column, top, right, 0.8 * unit, bright, false, true);
  write_line(cairo, writing_.so_far, column, top + 1.5 * unit, right, 0.62 * unit, calm, false, true);
  write_line(cairo, writing_.others, column, top + 2.9 * unit, right, 0.62 * unit, calm, false, true);
}

void Scene::draw_base(const Rect& clip) {
  const Drawing cairo(base_.get());
  cairo_rectangle(cairo, clip.x, clip.y, clip.width, clip.height);
  cairo_clip(cairo);
  draw_ground(cairo);
  draw_picture(cairo);
  draw_text(cairo);
}

void Scene::compose(const Rect& clip, double light) {
  const Drawing cairo(image_.get());
  cairo_rectangle(cairo, clip.x, clip.y, clip.width, clip.height);
  cairo_clip(cairo);
  cairo_set_operator(cairo, CAIRO_OPERATOR_SOURCE);
  cairo_set_source_surface(cairo, base_.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
  cairo_paint(cairo);
  if (light <= 0) return;
  cairo_set_operator(cairo, CAIRO_OPERATOR_OVER);
  cairo_set_source_rgba(cairo, 1, 0.93, 0.78, light);
  cairo_paint(cairo);
}

std::vector<Rect> Scene::draw(SteadyTime now) {
  if (now >= drift_at_) lay_out(now);
  std::vector<Rect> changed;
  if (all_) {
    const Rect whole{0, 0, width_, height_};
    draw_base(whole);
    compose(whole, 0);
    changed.push_back(whole);
    all_ = text_ = false;
    rows_.clear();
  }
  for (const view::Band& band : rows_) {
    const Rect place = place_of(band);
    draw_base(place);
    compose(place, 0);
    changed.push_back(place);
  }
  rows_.clear();
  if (text_) {
    const Rect place{0, text_place_.y, width_, height_ - text_place_.y};
    draw_base(place);
    compose(place, 0);
    changed.push_back(place);
    text_ = false;
  }
  std::erase_if(glows_, [&](const Glow& glow) {
    const double left = 1 - to_seconds(now - glow.since) / to_seconds(glow_time);
    const Rect place = place_of(glow.rows);
    compose(place, left > 0 ? glow_light * left * left : 0);
    changed.push_back(place);
    return left <= 0;
  });
  return changed;
}

SteadyTime Scene::quiet_until(SteadyTime now) const {
  if (all_ || text_ || !rows_.empty()) return now;
  return glows_.empty() ? drift_at_ : now;
}

}  // namespace gleaner::screensaver

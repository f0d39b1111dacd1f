// What the screensaver looks like, drawn into memory: the picture that this computer computes, new rows
// glowing for a moment, and below it what is computed, why or why not, and what came of it. Only what changed
// is drawn again. Everything moves by some pixels every minute, so that nothing burns in. No display is
// needed. Not thread-safe. Cost: proportional to the pixels that changed.
#pragma once

#include <cairo.h>

#include <memory>
#include <optional>
#include <vector>

#include "client/screensaver/writing.h"
#include "client/view/view_file.h"
#include "shared/base/clock.h"

namespace gleaner::screensaver {

struct Rect {
  int x = 0, y = 0, width = 0, height = 0;
};

class Scene {
 public:
  Scene(int width, int height, SteadyTime now);

  // What there is to show from now on. `pixels` belong to view->picture; if they are too few, no picture is
  // shown.
  void show(const std::optional<view::View>& view, const Bytes& pixels, SteadyTime now);
  // Brings the image up to date; what changed.
  [[nodiscard]] std::vector<Rect> draw(SteadyTime now);
  // Before then draw() has nothing to do unless show() is called.
  [[nodiscard]] SteadyTime quiet_until(SteadyTime now) const;

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  // Blue, green, red and a byte without meaning; stride() bytes a row.
  [[nodiscard]] const unsigned char* image() const;
  [[nodiscard]] int stride() const;
  [[nodiscard]] bool write_png(const std::string& file) const;

  static constexpr Duration glow_time = std::chrono::milliseconds{1200};
  static constexpr Duration drift_interval = std::chrono::seconds{50};

 private:
  struct SurfaceDeleter {
    void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  };
  using Surface = std::unique_ptr<cairo_surface_t, SurfaceDeleter>;
  struct Glow {
    view::Band rows;
    SteadyTime since;
  };

  void lay_out(SteadyTime now);
  void take_pixels(const Bytes& pixels, SteadyTime now);
  void copy_row(const Bytes& pixels, int row);
  [[nodiscard]] Rect place_of(view::Band rows) const;
  void draw_ground(cairo_t* cairo) const;
  void draw_picture(cairo_t* cairo) const;
  void draw_text(cairo_t* cairo) const;
  void draw_cores(cairo_t* cairo, double x, double y, double width) const;
  void draw_base(const Rect& clip);
  void compose(const Rect& clip, double light);
  [[nodiscard]] bool dimmed() const { return view_ && view_->mode == "pause"; }

  int width_, height_;
  Surface image_;    // what is shown
  Surface base_;     // the same without what glows
  Surface picture_;  // the client's, in its own size; null: none
  Bytes pixels_;     // as in picture_
  std::optional<view::View> view_;
  Writing writing_;
  double scale_ = 1;
  Rect picture_place_;
  Rect text_place_;
  bool all_ = true;  // everything is to be drawn again
  bool text_ = false;
  std::vector<view::Band> rows_;  // of the picture, to be drawn again
  std::vector<Glow> glows_;
  SteadyTime begun_;
  SteadyTime drift_at_;
};

}  // namespace gleaner::screensaver

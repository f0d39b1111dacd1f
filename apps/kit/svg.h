// Small drawings and curves as SVG text. Coordinates are pixels from the top left and printed with two
// decimals, so that a drawing is the same bytes everywhere. Not thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gleaner::kit {

using Points = std::vector<std::pair<double, double>>;

class Svg {
 public:
  Svg(int width, int height);
  void line(double x1, double y1, double x2, double y2, std::string_view colour, double thickness = 1);
  void polyline(const Points& points, std::string_view colour, double thickness = 1.5, bool closed = false);
  void circle(double x, double y, double radius, std::string_view colour);
  enum class Anchor { start, middle, end };
  void text(double x, double y, std::string_view text, Anchor anchor = Anchor::start, int size = 12);
  [[nodiscard]] std::string finish() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

// One axis of a chart. Ticks are where the caller says.
struct Axis {
  std::string title;
  double low = 0, high = 1;
  std::vector<std::pair<double, std::string>> ticks;
};
struct Curve {
  std::string name;  // may be empty
  Points points;     // in the axes' units
};
// 720 x 440 pixels, at most six curves in different colours.
[[nodiscard]] std::string draw_chart(const std::string& title, const Axis& x, const Axis& y,
                                     const std::vector<Curve>& curves);

}  // namespace gleaner::kit

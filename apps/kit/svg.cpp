#include "apps/kit/svg.h"

#include <array>
#include <cstdio>

namespace gleaner::kit {
namespace {

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

constexpr std::array<std::string_view, 6> colours{"#1f5fa8", "#c4541a", "#2f8f4e",
                                                  "#8b3fa0", "#a08a1f", "#555555"};
constexpr int chart_width = 720, chart_height = 440;
constexpr double left = 70, right = 700, top = 40, bottom = 380;

}  // namespace

Svg::Svg(int width, int height) {
  const std::string w = std::to_string(width);
  const std::string h = std::to_string(height);
  text_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
          "\" viewBox=\"0 0 " + w + " " + h + "\">\n<rect width=\"" + w + "\" height=\"" + h +
          "\" fill=\"white\"/>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view colour, double thickness) {
  polyline({{x1, y1}, {x2, y2}}, colour, thickness);
}

void Svg::polyline(const Points& points, std::string_view colour, double thickness, bool closed) {
  text_ += closed ? "<polygon points=\"" : "<polyline points=\"";
  for (const auto& [x, y] : points) text_ += number(x) + "," + number(y) + " ";
  text_ += "\" fill=\"none\" stroke=\"" + std::string(colour) + "\" stroke-width=\"" + number(thickness) +
           "\"/>\n";
}

void Svg::circle(double x, double y, double radius, std::string_view colour) {
  text_ += "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"" + number(radius) + "\" fill=\"" +
           std::string(colour) + "\"/>\n";
}

void Svg::text(double x, double y, std::string_view text, Anchor anchor, int size) {
  const char* const anchors[] = {"start", "middle", "end"};
  text_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" font-family=\"sans-serif\" font-size=\"" +
           std::to_string(size) + "\" text-anchor=\"" + anchors[static_cast<int>(anchor)] + "\">" +
           escaped(text) + "</text>\n";
}

std::string draw_chart(const std::string& title, const Axis& x, const Axis& y,
                       const std::vector<Curve>& curves) {
  Svg svg(chart_width, chart_height);
  const auto place = [&](double px, double py) {
    return std::pair{left + (px - x.low) / (x.high - x.low) * (right - left),
                     bottom - (py - y.low) / (y.high - y.low) * (bottom - top)};
  };
  svg.text((left + right) / 2, 24, title, Svg::Anchor::middle, 15);
  for (const auto& [at, label] : x.ticks) {
    const double px = place(at, y.low).first;
    svg.line(px, top, px, bottom, "#dddddd");
    svg.text(px, bottom + 18, label, Svg::Anchor::middle);
  }
  for (const auto& [at, label] : y.ticks) {
    const double py = place(x.low, at).second;
    svg.line(left, py, right, py, "#dddddd");
    svg.text(left - 6, py + 4, label, Svg::Anchor::end);
  }
  svg.polyline({{left, top}, {left, bottom}, {right, bottom}}, "black");
  svg.text((left + right) / 2, bottom + 42, x.title, Svg::Anchor::middle);
  svg.text(left - 60, top - 10, y.title);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    Points points;
    for (const auto& [px, py] : curves[i].points) points.push_back(place(px, py));
    const std::string_view colour = colours.at(i % colours.size());
    svg.polyline(points, colour, 2);
    if (curves[i].name.empty()) continue;
    const double row = top + 16 + 18 * static_cast<double>(i);
    svg.line(left + 12, row - 4, left + 36, row - 4, colour, 3);
    svg.text(left + 42, row, curves[i].name);
  }
  return svg.finish();
}

}  // namespace gleaner::kit

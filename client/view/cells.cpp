#include "client/view/cells.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gleaner::view {
namespace {

constexpr std::size_t pattern_bytes_max = 4096;

template <typename Number>
double read(std::string_view bytes, std::int64_t place) {
  Number number{};
  std::memcpy(&number, bytes.data() + place * static_cast<std::int64_t>(sizeof number), sizeof number);
  return static_cast<double>(number);
}

template <std::size_t size>
Rgb between(const std::array<Rgb, size>& stops, double at) {
  const double below = std::floor(at);
  const double part = at - below;
  const Rgb& from = stops[static_cast<std::size_t>(below) % size];
  const Rgb& to = stops[(static_cast<std::size_t>(below) + 1) % size];
  Rgb mixed{};
  for (std::size_t i = 0; i < mixed.size(); ++i)
    mixed[i] = static_cast<unsigned char>(std::lround(from[i] + (to[i] - from[i]) * part));
  return mixed;
}

}  // namespace

int bytes_of(Value value) {
  switch (value) {
    case Value::rgb8:
      return 3;
    case Value::grey8:
      return 1;
    case Value::uint16:
      return 2;
    case Value::uint32:
    case Value::float32:
      return 4;
    case Value::uint64:
    case Value::float64:
    case Value::escape:
      return 8;
  }
  return 1;
}

float number_at(std::string_view bytes, Value value, std::int64_t place) {
  double number = 0;
  switch (value) {
    case Value::grey8:
      number = read<std::uint8_t>(bytes, place);
      break;
    case Value::uint16:
      number = read<std::uint16_t>(bytes, place);
      break;
    case Value::uint32:
      number = read<std::uint32_t>(bytes, place);
      break;
    case Value::uint64:
      number = read<std::uint64_t>(bytes, place);
      break;
    case Value::float32:
      number = read<float>(bytes, place);
      break;
    case Value::float64:
      number = read<double>(bytes, place);
      break;
    case Value::rgb8:
    case Value::escape:
      break;
  }
  if (!std::isfinite(number) || number <= 0) return 0;
  return static_cast<float>(std::min(number, 1e30));
}

Rgb heat_colour(float part) {
  static constexpr std::array<Rgb, 6> stops{
      {{8, 8, 22}, {72, 18, 104}, {176, 42, 92}, {240, 108, 48}, {252, 200, 84}, {255, 252, 232}}};
  return between(stops, std::clamp(part, 0.0F, 0.9999F) * static_cast<double>(stops.size() - 1));
}

Rgb escape_colour(double level) {
  static constexpr std::array<Rgb, 6> stops{
      {{0, 7, 60}, {24, 92, 190}, {214, 244, 255}, {255, 196, 60}, {178, 62, 10}, {26, 4, 30}}};
  constexpr double turn = 5.5;  // of log(1 + level): the outside changes fast, the fringe slowly
  if (!std::isfinite(level)) return stops[0];
  return between(stops, std::log1p(std::max(0.0, level)) / turn * static_cast<double>(stops.size()));
}

Rgb quilt_colour(std::uint64_t choice) {
  static constexpr std::array<Rgb, 8> colours{{{62, 124, 177},
                                               {129, 164, 205},
                                               {219, 228, 238},
                                               {241, 115, 0},
                                               {5, 74, 145},
                                               {255, 190, 92},
                                               {46, 160, 143},
                                               {196, 78, 82}}};
  return colours[choice % colours.size()];
}

std::uint64_t pattern_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto take = [&hash](std::string_view part) {
    for (const char byte : part) {
      hash ^= static_cast<unsigned char>(byte);
      hash *= 0x100000001b3;
    }
  };
  take(bytes.substr(0, pattern_bytes_max));
  if (bytes.size() > pattern_bytes_max)
    take(bytes.substr(std::max(bytes.size() - pattern_bytes_max, pattern_bytes_max)));
  hash ^= hash >> 29;  // the last bytes reach all bits
  return hash * 0xbf58476d1ce4e5b9;
}

}  // namespace gleaner::view

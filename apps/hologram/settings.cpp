#include "apps/hologram/settings.h"

#include <bit>
#include <charconv>
#include <cmath>

namespace gleaner::hologram {
namespace {

constexpr std::size_t apertures_text_max = 1000;
constexpr std::int64_t points_max = 64;
constexpr std::int64_t picture_max = 4096;

const char* skip_spaces(const char* at, const char* end) {
  while (at != end && *at == ' ') ++at;
  return at;
}

void check_side(kit::Parameters& parameters, const std::string& key, std::int64_t side) {
  if (side != 0 && (side < side_min || !std::has_single_bit(static_cast<std::uint64_t>(side))))
    parameters.mistake(
        key, "must be a power of two from 64 to 65536, or 0 for the smallest that holds the hologram");
}

void read_optics(kit::Parameters& parameters, Settings& settings) {
  settings.wavelength = 1e-9 * parameters.number("wavelength_nanometres", {1, 1e6}, 633);
  settings.distance = 1e-3 * parameters.number("distance_millimetres", {-1e6, 1e6}, -50);
  settings.row_pitch = 1e-6 * parameters.number("row_pitch_micrometres", {0.01, 1e4}, 8);
  settings.column_pitch = 1e-6 * parameters.number("column_pitch_micrometres", {0.01, 1e4}, 8);
  if (std::abs(settings.distance) < 1e-9)
    parameters.mistake("distance_millimetres", "must not be 0: there would be nothing to compute");
}

void read_source(kit::Parameters& parameters, Settings& settings) {
  const std::string synthetic = parameters.choice("synthetic", {"none", "points", "gaussian"}, "none");
  settings.synthetic = synthetic == "points"     ? Synthetic::points
                       : synthetic == "gaussian" ? Synthetic::gaussian
                                                 : Synthetic::none;
  settings.points = parameters.integer("points", {1, points_max}, settings.points);
  settings.waist = 1e-6 * parameters.number("waist_micrometres", {0.1, 1e6}, 300);
  settings.background = parameters.number("background", {-1e6, 1e6}, 0);
  const std::string format = parameters.choice("format", {"detect", "u8", "u16", "f32", "c64"}, "detect");
  settings.format = format == "u8"    ? Format::u8
                    : format == "u16" ? Format::u16
                    : format == "f32" ? Format::f32
                    : format == "c64" ? Format::c64
                                      : Format::detect;
  settings.image_rows = parameters.integer("image_rows", {0, side_max}, 0);
  settings.image_columns = parameters.integer("image_columns", {0, side_max}, 0);
  const bool sizes = settings.image_rows > 0 && settings.image_columns > 0;
  if (settings.format != Format::detect && !sizes)
    parameters.mistake("image_rows", "a raw input does not say its size: give image_rows and image_columns");
  if (settings.format == Format::detect && (settings.image_rows > 0 || settings.image_columns > 0))
    parameters.mistake("image_rows", "is for raw inputs: give `format` too, or leave it out");
  if (settings.synthetic != Synthetic::none && settings.format != Format::detect)
    parameters.mistake("format", "is for an input: a synthetic hologram has none");
}

}  // namespace

Result<std::vector<Aperture>> parse_apertures(const std::string& text) {
  const Error wrong{
      ErrorKind::invalid,
      "must be groups of four whole numbers such as \"-40,0,256,256; 40,0,256,256\": the shift in "
      "rows and columns, then the size in rows and columns"};
  std::vector<Aperture> apertures;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (at = skip_spaces(at, end); at != end;) {
    std::int64_t numbers[4] = {};
    for (int i = 0; i < 4; ++i) {
      const auto [next, fault] = std::from_chars(skip_spaces(at, end), end, numbers[i]);
      if (fault != std::errc{}) return wrong;
      at = skip_spaces(next, end);
      if (i == 3) break;
      if (at == end || *at != ',') return wrong;
      ++at;
    }
    if (at != end) {
      if (*at != ';') return wrong;
      at = skip_spaces(at + 1, end);
    }
    const auto within = [](std::int64_t number, std::int64_t low) {
      return number >= low && number <= side_max;
    };
    if (!within(numbers[0], -side_max) || !within(numbers[1], -side_max) || !within(numbers[2], 1) ||
        !within(numbers[3], 1))
      return Error{ErrorKind::invalid, "shifts must be within 65536 and sizes from 1 to 65536"};
    apertures.push_back({numbers[0], numbers[1], numbers[2], numbers[3]});
    if (apertures.size() > apertures_max)
      return Error{ErrorKind::invalid, "at most 16 apertures are allowed"};
  }
  return apertures;
}

Result<Settings> read_settings(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  Settings settings;
  settings.method = parameters.choice("method", {"convolution", "direct"}, "convolution") == "direct"
                        ? Method::direct
                        : Method::convolution;
  const std::string product =
      parameters.choice("output", {"amplitude", "intensity", "phase", "complex"}, "amplitude");
  settings.product = product == "amplitude"   ? Product::amplitude
                     : product == "intensity" ? Product::intensity
                     : product == "phase"     ? Product::phase
                                              : Product::field;
  read_optics(parameters, settings);
  read_source(parameters, settings);
  settings.rows = parameters.integer("rows", {0, side_max}, 0);
  settings.columns = parameters.integer("columns", {0, side_max}, 0);
  check_side(parameters, "rows", settings.rows);
  check_side(parameters, "columns", settings.columns);
  auto apertures = parse_apertures(parameters.text("apertures", apertures_text_max, ""));
  if (!apertures.ok()) {
    parameters.mistake("apertures", apertures.error().message);
  } else {
    settings.apertures = std::move(*apertures);
  }
  settings.picture = parameters.integer("picture", {16, picture_max}, settings.picture);
  settings.raw = parameters.boolean("raw", false);
  TRY(parameters.finish());
  return settings;
}

}  // namespace gleaner::hologram

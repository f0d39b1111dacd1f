#include "apps/photons/settings.h"

#include <algorithm>
#include <cmath>

#include "apps/kit/portable_math.h"
#include "apps/photons/outcome.h"

namespace gleaner::photons {
namespace {

constexpr double pi = 0x1.921fb54442d18p+1;
constexpr double clear_path = 1e9;  // cm; a step in a clear layer always reaches its border
constexpr double endless = 1e300;   // the depth of an infinite layer's bottom
constexpr double extent_max = 1e4;  // cm
constexpr std::int64_t seed_max = std::int64_t{1} << 53;
constexpr std::int64_t photons_max = 10'000'000'000'000;
constexpr std::int64_t item_photons_max = 4'000'000;  // below 2^22: no sum of weights overflows
constexpr std::int64_t numbers_max = 2'000'000;       // of an item: 16 MB
// About two and ten seconds with AVX2, six times as long without: larger items for larger results.
constexpr double item_events_low = 1e8, item_events_high = 5e8, number_events = 250;
constexpr double item_events_max = 2e9;
constexpr std::int64_t items_max = 10'000'000;
constexpr std::int64_t items_wanted = 64;  // for errors from the differences between items, and for sharing

double cosine_of_degrees(double angle) {
  return angle >= 90 ? 0 : kit::portable_cos(angle / 180 * pi);
}

// How deep light goes: the finite layers, and where it has faded in an infinite one (five times the depth of
// diffusion theory).
double depth_extent(const Tissue& tissue) {
  double depth = 0;
  for (const TissueLayer& layer : tissue.layers) {
    if (layer.thickness < endless) {
      depth += layer.thickness;
      continue;
    }
    const double transport = layer.absorption + layer.scattering * (1 - layer.anisotropy);
    if (layer.absorption > 0)
      depth += 5 / std::sqrt(3 * layer.absorption * transport);
    else
      depth += transport > 0 ? 20 / transport : 1;
  }
  return depth;
}

Result<Tissue> read_tissue(const kit::Problem& problem, kit::Parameters& parameters) {
  const std::string name = parameters.choice("tissue", {"", "head", "slab", "half-space"}, "");
  const std::string layers = parameters.text("layers", 4096, "");
  if (!name.empty() && !layers.empty()) parameters.mistake("layers", "give either tissue or layers");
  if (!name.empty()) return parse_tissue(bundled_tissue(name));
  if (!layers.empty()) {
    auto tissue = parse_tissue(layers);
    if (!tissue.ok()) parameters.mistake("layers", tissue.error().message);
    return tissue.ok() ? std::move(tissue).value() : Tissue{1, 1, {{"none", 1, 1, 0, 0, 1}}};
  }
  const auto text = problem.read_input("tissue", tissue_bytes_max);
  if (text.ok()) return parse_tissue(*text);
  if (text.error().kind != ErrorKind::not_found) return text.error();
  return Error{
      ErrorKind::invalid,
      "give the tissue as the input `tissue`, as the parameter `layers`, or set `tissue` to head, slab "
      "or half-space"};
}

void read_detector(Settings& settings, kit::Parameters& parameters) {
  settings.detector_radius = parameters.number("detector_radius", {0, extent_max}, 0.0);
  const double radius = settings.detector_radius;
  settings.detector_half_width = parameters.number("detector_half_width", {0, extent_max}, 0.05 * radius);
  settings.detector_angle = parameters.number("detector_angle", {0.1, 90}, 90.0);
  settings.path_bins = parameters.integer("path_bins", {1, 10'000}, settings.path_bins);
  settings.path_step = parameters.number("path_step", {0, extent_max}, 0.0);
  if (settings.path_step == 0) settings.path_step = settings.detects() ? 0.3 * radius : 1;
  settings.visits = parameters.boolean("visits", false);
  if (settings.detects() && settings.detector_half_width == 0)
    parameters.mistake("detector_half_width", "must be above 0");
  if (settings.detects()) return;
  for (const char* key : {"detector_half_width", "detector_angle", "path_bins", "path_step", "visits"}) {
    if (parameters.has(key)) parameters.mistake(key, "is for a detector: set detector_radius");
  }
}

void read_grid(Settings& settings, kit::Parameters& parameters) {
  settings.radial_cells = parameters.integer("radial_cells", {1, 10'000}, settings.radial_cells);
  settings.depth_cells = parameters.integer("depth_cells", {1, 10'000}, settings.depth_cells);
  settings.angle_cells = parameters.integer("angle_cells", {1, angles_max}, settings.angle_cells);
  settings.radial_step = parameters.number("radial_step", {0, extent_max}, 0.0);
  settings.depth_step = parameters.number("depth_step", {0, extent_max}, 0.0);
  const double depth = depth_extent(settings.tissue);
  if (settings.depth_step == 0) settings.depth_step = depth / static_cast<double>(settings.depth_cells);
  if (settings.radial_step == 0) {
    const double ring = 1.5 * (settings.detector_radius + settings.detector_half_width);
    const double extent = std::max({depth, ring, 2 * settings.source_radius});
    settings.radial_step = extent / static_cast<double>(settings.radial_cells);
  }
  if (Layout(settings).size > numbers_max) {
    parameters.mistake("radial_cells",
                       "the grids have " + std::to_string(Layout(settings).size) +
                           " cells, at most 2000000 are allowed: lower radial_cells, depth_cells "
                           "or angle_cells");
  }
}

std::int64_t choose_item_photons(const Settings& settings) {
  const double events = std::clamp(number_events * static_cast<double>(Layout(settings).size),
                                   item_events_low, item_events_high);
  const double wanted = std::min(events / std::max(settings.photon_events, 1.0),
                                 static_cast<double>(settings.photons) / static_cast<double>(items_wanted));
  const auto blocks = static_cast<std::int64_t>(wanted) / item_blocks;
  return std::clamp(blocks * item_blocks, item_blocks, item_photons_max);
}

void scatter(MediumLayer& layer, double g) {
  layer.a = 1 - g * g;
  layer.b = 1 - g;
  layer.c = 2 * g;
  layer.d = 1 + g * g;
  layer.e = g == 0 ? 0 : 1 / (2 * g);
  layer.isotropic = g == 0 ? 1 : 0;
}

}  // namespace

Range Settings::item_range(std::int64_t item) const {
  return {item * item_photons, std::min((item + 1) * item_photons, photons)};
}

std::int64_t Settings::block_photons(std::int64_t item) const {
  return (item_range(item).size() + item_blocks - 1) / item_blocks;
}

Result<Settings> read_settings(const kit::Problem& problem) {
  TRY_ASSIGN(kit::Parameters parameters, problem.parameters());
  Settings settings;
  TRY_ASSIGN(settings.tissue, read_tissue(problem, parameters));
  settings.photons = parameters.integer("photons", {1, photons_max}, 1'000'000);
  settings.seed = static_cast<std::uint64_t>(parameters.integer("seed", {0, seed_max}, 1));
  const std::string source = parameters.choice("source", {"pencil", "disc", "gaussian"}, "pencil");
  settings.source = source == "pencil" ? Source::pencil : source == "disc" ? Source::disc : Source::gaussian;
  settings.source_radius = parameters.number("source_radius", {0, extent_max}, 0.0);
  if ((settings.source != Source::pencil) != (settings.source_radius > 0))
    parameters.mistake("source_radius", "must be above 0 for a disc or gaussian source, and 0 for a pencil");
  read_detector(settings, parameters);
  read_grid(settings, parameters);
  settings.item_photons = parameters.integer("item_photons", {0, item_photons_max}, 0);
  TRY(parameters.finish());
  settings.photon_events = mean_events(settings);
  if (static_cast<double>(settings.item_photons) * settings.photon_events > item_events_max) {
    return Error{ErrorKind::invalid,
                 "item_photons: an item may take minutes, a photon has " +
                     std::to_string(static_cast<std::int64_t>(settings.photon_events)) + " events: at most " +
                     std::to_string(static_cast<std::int64_t>(item_events_max / settings.photon_events))};
  }
  if (settings.item_photons == 0) settings.item_photons = choose_item_photons(settings);
  if (settings.items() > items_max) {
    return Error{ErrorKind::invalid,
                 "photons: they make more than 10000000 items: lower photons or raise item_photons"};
  }
  return settings;
}

Model make_model(const Settings& settings) {
  Model model;
  double depth = 0;
  for (const TissueLayer& given : settings.tissue.layers) {
    MediumLayer& layer = model.layer[model.layers++];
    layer.index = given.index;
    layer.attenuation = given.absorption + given.scattering;
    layer.free_path = layer.attenuation > 0 ? 1 / layer.attenuation : clear_path;
    layer.absorbed = layer.attenuation > 0 ? given.absorption / layer.attenuation : 0;
    layer.top = depth;
    depth = given.thickness < endless ? depth + given.thickness : endless;
    layer.bottom = depth;
    scatter(layer, given.anisotropy);
  }
  model.index_above = settings.tissue.index_above;
  model.index_below = settings.tissue.index_below;
  const double n = model.layer[0].index;
  const double amplitude = (model.index_above - n) / (model.index_above + n);
  model.specular = amplitude * amplitude;
  model.source = settings.source;
  model.source_radius = settings.source_radius;
  model.key[0] = static_cast<std::uint32_t>(settings.seed);
  model.key[1] = static_cast<std::uint32_t>(settings.seed >> 32);
  model.radial_cells = static_cast<int>(settings.radial_cells);
  model.depth_cells = static_cast<int>(settings.depth_cells);
  model.angle_cells = static_cast<int>(settings.angle_cells);
  model.radial_inverse = 1 / settings.radial_step;
  model.depth_inverse = 1 / settings.depth_step;
  for (int i = 0; i < model.angle_cells; ++i)
    model.cosines[i] = cosine_of_degrees(90.0 * (i + 1) / model.angle_cells);
  if (settings.detects()) {
    model.ring_low = settings.detector_radius - settings.detector_half_width;
    model.ring_high = settings.detector_radius + settings.detector_half_width;
    model.ring_cosine = cosine_of_degrees(settings.detector_angle);
  }
  return model;
}

Layout::Layout(const Settings& settings) {
  const auto layer_count = static_cast<std::int64_t>(settings.tissue.layers.size());
  const std::int64_t rings = settings.radial_cells + 1;
  squares = blocks + item_blocks * 6;
  absorbed = squares + 3;
  layers = absorbed + rings * (settings.depth_cells + 1);
  reflected = layers + layer_count;
  transmitted = reflected + rings * settings.angle_cells;
  detector = transmitted + rings * settings.angle_cells;
  paths = detector + 3;
  histogram = paths + layer_count;
  visits = histogram + settings.path_bins + 1;
  size = visits + (settings.visits ? 2 * settings.radial_cells * settings.depth_cells : 0);
}

}  // namespace gleaner::photons

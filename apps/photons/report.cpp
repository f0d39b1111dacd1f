#include "apps/photons/report.h"

#include <cstdarg>
#include <cstdio>

namespace gleaner::photons {
namespace {

constexpr double pi = 0x1.921fb54442d18p+1;

__attribute__((format(printf, 1, 2))) std::string formatted(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

double ring_area(const Settings& settings, std::int64_t r) {
  return pi * static_cast<double>(2 * r + 1) * settings.radial_step * settings.radial_step;
}

Estimate scaled(Estimate estimate, double factor) {
  return {estimate.value * factor, estimate.error * factor};
}

Estimate row_sum(const Sums& sums, std::int64_t place, std::int64_t r) {
  // One angle is one number; several are summed without an error of their own.
  const std::int64_t angles = sums.settings().angle_cells;
  if (angles == 1) return sums.of(place + r);
  return sums.of_range(place + r * angles, place + (r + 1) * angles);
}

double mean_path(const Sums& sums, std::int64_t layer) {
  const double weight = sums.total(sums.layout().detector + 1) * weight_unit;
  return weight > 0 ? sums.total(sums.layout().paths + layer) * path_unit / weight : 0;
}

std::string line(const char* what, Estimate estimate) {
  return formatted("%-26s %.6f +- %.6f\n", what, estimate.value, estimate.error);
}

}  // namespace

double absorption_at(const Settings& settings, std::int64_t z) {
  const double depth = (static_cast<double>(z) + 0.5) * settings.depth_step;
  double bottom = 0;
  for (const TissueLayer& layer : settings.tissue.layers) {
    bottom += layer.thickness;
    if (depth < bottom) return layer.absorption;
  }
  return 0;
}

Estimate reflected_at(const Sums& sums, std::int64_t r) {
  return scaled(row_sum(sums, sums.layout().reflected, r), 1 / ring_area(sums.settings(), r));
}

Estimate transmitted_at(const Sums& sums, std::int64_t r) {
  return scaled(row_sum(sums, sums.layout().transmitted, r), 1 / ring_area(sums.settings(), r));
}

Estimate absorbed_at(const Sums& sums, std::int64_t r, std::int64_t z) {
  const Settings& settings = sums.settings();
  return scaled(sums.of(sums.layout().absorbed + r * (settings.depth_cells + 1) + z),
                1 / (ring_area(settings, r) * settings.depth_step));
}

std::string text_report(const Sums& sums) {
  const Settings& settings = sums.settings();
  const Layout& layout = sums.layout();
  std::string text = formatted("%.0f of %lld photons, %.1f events each\n\n", sums.photons(),
                               static_cast<long long>(settings.photons), sums.events());
  const double specular = make_model(settings).specular;
  text += "Of the light sent (with one standard deviation):\n";
  text += line("reflected at entry", {specular, 0});
  text += line("diffusely reflected", sums.reflected());
  text += line("absorbed", sums.absorbed());
  text += line("transmitted", sums.transmitted());
  if (sums.lost() > 0) text += line("given up (too many events)", {sums.lost(), 0});
  text += formatted(
      "%-26s %.6f\n", "together",
      specular + sums.reflected().value + sums.absorbed().value + sums.transmitted().value + sums.lost());
  text += "\nAbsorbed by layer:\n";
  for (std::size_t i = 0; i < settings.tissue.layers.size(); ++i)
    text +=
        line(settings.tissue.layers[i].name.c_str(), sums.of(layout.layers + static_cast<std::int64_t>(i)));
  if (!settings.detects()) return text;
  text += formatted("\nDetector: a ring of radius %g cm, +- %g cm, up to %g degrees to the normal\n",
                    settings.detector_radius, settings.detector_half_width, settings.detector_angle);
  text += formatted("%.0f photons; ", sums.total(layout.detector)) + line("weight", sums.detected());
  double whole = 0;
  std::string layers;
  for (std::size_t i = 0; i < settings.tissue.layers.size(); ++i) {
    const double path = mean_path(sums, static_cast<std::int64_t>(i));
    whole += path;
    layers += formatted("  %-24s %.4f cm\n", settings.tissue.layers[i].name.c_str(), path);
  }
  return text +
         formatted("mean path %.4f cm, %.3f times the radius; of it\n", whole,
                   whole / settings.detector_radius) +
         layers;
}

std::string json_report(const Sums& sums) {
  const Settings& settings = sums.settings();
  const auto pair = [](const char* key, Estimate estimate) {
    return formatted(",\n  \"%s\": {\"value\": %.9g, \"error\": %.3g}", key, estimate.value, estimate.error);
  };
  std::string text = formatted("{\n  \"photons\": %.0f,\n  \"events\": %.6g,\n  \"specular\": %.9g",
                               sums.photons(), sums.events(), make_model(settings).specular);
  text += pair("reflected", sums.reflected()) + pair("absorbed", sums.absorbed()) +
          pair("transmitted", sums.transmitted()) + formatted(",\n  \"lost\": %.9g", sums.lost());
  text += ",\n  \"layers\": [";
  for (std::size_t i = 0; i < settings.tissue.layers.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    text += formatted("%s\n    {\"name\": \"%s\", \"absorbed\": %.9g", i == 0 ? "" : ",",
                      settings.tissue.layers[i].name.c_str(), sums.of(sums.layout().layers + place).value);
    if (settings.detects()) text += formatted(", \"path_cm\": %.9g", mean_path(sums, place));
    text += "}";
  }
  text += "\n  ]";
  if (settings.detects()) {
    text += pair("detected", sums.detected()) +
            formatted(",\n  \"detected_photons\": %.0f", sums.total(sums.layout().detector));
  }
  return text + "\n}\n";
}

std::string radius_table(const Sums& sums) {
  const Settings& settings = sums.settings();
  std::string table = "radius_cm\treflected_per_cm2\ttransmitted_per_cm2\n";
  for (std::int64_t r = 0; r < settings.radial_cells; ++r) {
    table += formatted("%.6g\t%.6g\t%.6g\n", (static_cast<double>(r) + 0.5) * settings.radial_step,
                       reflected_at(sums, r).value, transmitted_at(sums, r).value);
  }
  return table;
}

std::string angle_table(const Sums& sums) {
  const Settings& settings = sums.settings();
  const Model model = make_model(settings);
  std::string table = "angle_degrees\treflected_per_sr\ttransmitted_per_sr\n";
  double upper = 1;
  for (std::int64_t a = 0; a < settings.angle_cells; ++a) {
    double values[2] = {0, 0};
    for (std::int64_t r = 0; r <= settings.radial_cells; ++r) {
      values[0] += sums.of(sums.layout().reflected + r * settings.angle_cells + a).value;
      values[1] += sums.of(sums.layout().transmitted + r * settings.angle_cells + a).value;
    }
    const double solid = 2 * pi * (upper - model.cosines[a]);
    upper = model.cosines[a];
    table += formatted("%.6g\t%.6g\t%.6g\n",
                       90 * (static_cast<double>(a) + 0.5) / static_cast<double>(settings.angle_cells),
                       values[0] / solid, values[1] / solid);
  }
  return table;
}

std::string depth_table(const Sums& sums) {
  const Settings& settings = sums.settings();
  std::string table = "depth_cm\tabsorbed_per_cm\tfluence\n";
  for (std::int64_t z = 0; z < settings.depth_cells; ++z) {
    double absorbed = 0;
    for (std::int64_t r = 0; r <= settings.radial_cells; ++r)
      absorbed += sums.of(sums.layout().absorbed + r * (settings.depth_cells + 1) + z).value;
    absorbed /= settings.depth_step;
    const double coefficient = absorption_at(settings, z);
    table += formatted("%.6g\t%.6g\t%.6g\n", (static_cast<double>(z) + 0.5) * settings.depth_step, absorbed,
                       coefficient > 0 ? absorbed / coefficient : 0);
  }
  return table;
}

std::string fluence_table(const Sums& sums) {
  const Settings& settings = sums.settings();
  std::string table = "radius_cm\tdepth_cm\tabsorbed_per_cm3\terror\tfluence_per_cm2\n";
  for (std::int64_t r = 0; r < settings.radial_cells; ++r) {
    for (std::int64_t z = 0; z < settings.depth_cells; ++z) {
      const Estimate absorbed = absorbed_at(sums, r, z);
      if (absorbed.value == 0) continue;
      const double coefficient = absorption_at(settings, z);
      table +=
          formatted("%.6g\t%.6g\t%.6g\t%.3g\t%.6g\n", (static_cast<double>(r) + 0.5) * settings.radial_step,
                    (static_cast<double>(z) + 0.5) * settings.depth_step, absorbed.value, absorbed.error,
                    coefficient > 0 ? absorbed.value / coefficient : 0);
    }
  }
  return table;
}

std::string path_table(const Sums& sums) {
  const Settings& settings = sums.settings();
  std::string table = "path_cm\tweight\terror\n";
  for (std::int64_t i = 0; i < settings.path_bins; ++i) {
    const Estimate weight = sums.of(sums.layout().histogram + i);
    table += formatted("%.6g\t%.6g\t%.3g\n", (static_cast<double>(i) + 0.5) * settings.path_step,
                       weight.value, weight.error);
  }
  return table;
}

}  // namespace gleaner::photons

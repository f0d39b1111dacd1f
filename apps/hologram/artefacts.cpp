#include "apps/hologram/artefacts.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "apps/hologram/waves.h"
#include "shared/json/text.h"

namespace gleaner::hologram {
namespace {

float real_at(const char* bytes) {
  float value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

float intensity_at(const char* pixel, std::int64_t pixel_bytes) {
  const float real = real_at(pixel);
  if (pixel_bytes == 4) return real;
  const float imaginary = real_at(pixel + 4);
  return real * real + imaginary * imaginary;
}

// Only pictures and raw files are made of it, here on the server: no two hosts compare it.
float phase_at(const char* pixel) {
  return std::atan2(real_at(pixel + 4), real_at(pixel));
}

// With several views, each file's name says which.
std::string name_of(const std::string& base, std::size_t view, std::size_t views, const std::string& ending) {
  return base + (views > 1 ? "-" + std::to_string(view + 1) : "") + ending;
}

struct RawFile {
  const char* name;
  const char* ending;
  std::int64_t pixel_bytes;
};

RawFile raw_file(Product product) {
  switch (product) {
    case Product::amplitude:
      return {"amplitude", ".f32", 4};
    case Product::intensity:
      return {"intensity", ".f32", 4};
    case Product::phase:
      return {"phase", ".f32", 4};
    case Product::field:
      break;
  }
  return {"field", ".c64", 8};
}

void put_raw(Product product, const char* pixel, char* to) {
  float value = 0;
  switch (product) {
    case Product::amplitude:
      value = std::sqrt(real_at(pixel));
      break;
    case Product::intensity:
      value = real_at(pixel);
      break;
    case Product::phase:
      value = phase_at(pixel);
      break;
    case Product::field:
      std::memcpy(to, pixel, 8);
      return;
  }
  std::memcpy(to, &value, sizeof value);
}

}  // namespace

double energy_of(std::string_view bytes) {
  double sum = 0;
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    const double real = real_at(bytes.data() + at);
    const double imaginary = real_at(bytes.data() + at + 4);
    sum += real * real + imaginary * imaginary;
  }
  return sum;
}

Pictures::Pictures(const Task& task, int stage, Form form)
    : task_(task), last_(task.layout.last(stage)), form_(form) {
  const Product product = task.settings.product;
  for (std::size_t view = 0; view < task.layout.views().size(); ++view) {
    const auto make = [&](Thumbnail::Pick pick) {
      return Thumbnail(task.layout.rows(), task.layout.columns(), task.settings.picture, pick);
    };
    OfView& pictures = views_.emplace_back();
    if (!last_ || product != Product::phase) pictures.brightness = make(Thumbnail::Pick::brightest);
    if (last_ && (product == Product::phase || product == Product::field))
      pictures.phase = make(Thumbnail::Pick::first);
  }
}

void Pictures::take(std::size_t view, std::int64_t block, std::string_view bytes) {
  OfView& pictures = views_[view];
  for_each_run(task_.layout, form_, block, bytes, [&](const Run& run) {
    const char* pixel = run.bytes;
    for (std::int64_t i = 0; i < run.count; ++i, pixel += form_.pixel_bytes) {
      if (pictures.brightness)
        pictures.brightness->put(run.row, run.column + i, intensity_at(pixel, form_.pixel_bytes));
      if (pictures.phase && pictures.phase->looks_at(run.row, run.column + i))
        pictures.phase->put(run.row, run.column + i, phase_at(pixel));
    }
  });
}

Status Pictures::write(kit::Output& output) const {
  const auto write_one = [&](const std::string& base, std::size_t view, const Thumbnail& picture,
                             Thumbnail::Scale scale) -> Status {
    const std::string name = name_of(base, view, views_.size(), ".png");
    TRY(picture.write(output.directory() / name, scale));
    output.result(name, "image/png");
    return {};
  };
  const bool intensity = task_.settings.product == Product::intensity;
  for (std::size_t view = 0; view < views_.size(); ++view) {
    const OfView& pictures = views_[view];
    if (!last_) {
      TRY(write_one("preview", view, *pictures.brightness, Thumbnail::Scale::decades));
      continue;
    }
    if (pictures.brightness)
      TRY(write_one(intensity ? "intensity" : "amplitude", view, *pictures.brightness,
                    intensity ? Thumbnail::Scale::linear : Thumbnail::Scale::root));
    if (pictures.phase) TRY(write_one("phase", view, *pictures.phase, Thumbnail::Scale::angle));
  }
  return {};
}

Artefacts::Artefacts(const Task& task)
    : task_(task),
      form_{false, task.layout.pixel_bytes(task.layout.stages() - 1)},
      pictures_(task, task.layout.stages() - 1, form_),
      summaries_(task.layout.views().size()) {}

void Artefacts::take(std::size_t view, std::int64_t row_block, std::string_view bytes,
                     const kit::Output& output) {
  summarise(summaries_[view], row_block, bytes);
  pictures_.take(view, row_block, bytes);
  if (task_.settings.raw && status_.ok()) status_ = write_raw(view, row_block, bytes, output);
}

void Artefacts::summarise(ViewSummary& summary, std::int64_t row_block, std::string_view bytes) const {
  const Layout& layout = task_.layout;
  const std::int64_t pixel_bytes = form_.pixel_bytes;
  for_each_run(layout, form_, row_block, bytes, [&](const Run& run) {
    double sum = 0;
    for (std::int64_t i = 0; i < run.count; ++i) {
      const float value = intensity_at(run.bytes + i * pixel_bytes, pixel_bytes);
      sum += value;
      // Of equals the first by rows, which the tiles do not follow.
      const bool before =
          run.row < summary.row || (run.row == summary.row && run.column + i < summary.column);
      if (value > summary.brightest || (value == summary.brightest && before)) {
        summary.brightest = value;
        summary.row = run.row;
        summary.column = run.column + i;
      }
    }
    summary.energy += sum;
  });
}

Status Artefacts::write_raw(std::size_t view, std::int64_t row_block, std::string_view bytes,
                            const kit::Output& output) {
  const Layout& layout = task_.layout;
  const RawFile file = raw_file(task_.settings.product);
  const auto path = output.directory() / name_of(file.name, view, layout.views().size(), file.ending);
  if (row_block == 0) {
    raw_.close();
    raw_.clear();
    raw_.open(path, std::ios::binary | std::ios::trunc);
  }
  Bytes lines(static_cast<std::size_t>(layout.block_rows() * layout.columns() * file.pixel_bytes), '\0');
  const std::int64_t pixel_bytes = form_.pixel_bytes;
  const std::int64_t first_row = row_block * layout.block_rows();
  for_each_run(layout, form_, row_block, bytes, [&](const Run& run) {
    char* to = lines.data() + ((run.row - first_row) * layout.columns() + run.column) * file.pixel_bytes;
    for (std::int64_t i = 0; i < run.count; ++i, to += file.pixel_bytes)
      put_raw(task_.settings.product, run.bytes + i * pixel_bytes, to);
  });
  raw_.write(lines.data(), static_cast<std::streamsize>(lines.size()));
  raw_.flush();
  if (!raw_) return Error{ErrorKind::io, "cannot write " + path.string() + " (is the disk full?)"};
  return {};
}

std::string Artefacts::report(const std::vector<double>& energies) const {
  using Json = json::Value;
  const Settings& settings = task_.settings;
  const Layout& layout = task_.layout;
  const bool direct = settings.method == Method::direct;
  Json report;
  report["method"] = direct ? "direct" : "convolution";
  report["hologram"] = {{"rows", task_.pixels->rows()}, {"columns", task_.pixels->columns()}};
  report["plane"] = {{"rows", layout.rows()}, {"columns", layout.columns()}};
  report["wavelength_metres"] = settings.wavelength;
  report["distance_metres"] = settings.distance;
  report["pitch_metres"] = {
      {"rows", direct ? direct_pitch(settings, layout.rows(), settings.row_pitch) : settings.row_pitch},
      {"columns",
       direct ? direct_pitch(settings, layout.columns(), settings.column_pitch) : settings.column_pitch}};
  report["views"] = Json::array();
  for (std::size_t i = 0; i < summaries_.size(); ++i) {
    const ViewSummary& summary = summaries_[i];
    const Aperture& aperture = layout.views()[i].aperture;
    Json view;
    view["aperture"] =
        Json::array({aperture.row_shift, aperture.column_shift, aperture.rows, aperture.columns});
    view["energy_before"] = energies[i];
    // Of the direct method, whose pixels have another size: in units of the hologram's.
    const double pixel = direct ? direct_pitch(settings, layout.rows(), settings.row_pitch) *
                                      direct_pitch(settings, layout.columns(), settings.column_pitch) /
                                      (settings.row_pitch * settings.column_pitch)
                                : 1;
    view["energy_after"] = summary.energy * pixel;
    view["brightest"] = {{"row", summary.row}, {"column", summary.column}, {"intensity", summary.brightest}};
    report["views"].push_back(view);
  }
  report["warnings"] = Json::array();
  const double limit = distance_limit(settings, layout.rows(), layout.columns());
  char text[200];
  if (!direct && std::abs(settings.distance) > limit) {
    std::snprintf(
        text, sizeof text,
        "the transfer function is undersampled beyond %.4g m: take the direct method, or a larger plane",
        limit);
    report["warnings"].push_back(text);
  }
  if (direct && std::abs(settings.distance) < limit) {
    std::snprintf(text, sizeof text,
                  "the chirp is undersampled nearer than %.4g m: take the convolution method", limit);
    report["warnings"].push_back(text);
  }
  return json::write(report, {2}) + "\n";
}

Status Artefacts::finish(const std::vector<double>& energies, kit::Output& output) {
  TRY(status_);
  TRY(pictures_.write(output));
  if (task_.settings.raw) {
    raw_.close();
    const RawFile file = raw_file(task_.settings.product);
    for (std::size_t view = 0; view < summaries_.size(); ++view)
      output.result(name_of(file.name, view, summaries_.size(), file.ending), "application/octet-stream");
  }
  TRY(kit::write_file(output.directory() / "report.json", report(energies)));
  output.result("report.json", "application/json");
  return {};
}

}  // namespace gleaner::hologram

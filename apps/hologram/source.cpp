#include "apps/hologram/source.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "apps/hologram/image_file.h"
#include "apps/hologram/parts.h"
#include "apps/hologram/stages.h"
#include "apps/hologram/waves.h"
#include "apps/kit/packing.h"
#include "apps/kit/portable_math.h"

namespace gleaner::hologram {
namespace {

constexpr std::int64_t synthetic_side = 512;

class FilePixels final : public Pixels {
 public:
  explicit FilePixels(ImageFile file) : file_(std::move(file)) {}
  [[nodiscard]] std::int64_t rows() const override { return file_.layout().rows; }
  [[nodiscard]] std::int64_t columns() const override { return file_.layout().columns; }
  [[nodiscard]] Status read_row(std::int64_t row, Range columns, Complex* to) override {
    return file_.read_row(row, columns, to);
  }

 private:
  ImageFile file_;
};

// Of a kernel of a later stage, which is told the hologram's size at the end of its blocks (stages.h).
class UnseenPixels final : public Pixels {
 public:
  UnseenPixels(std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {}
  [[nodiscard]] std::int64_t rows() const override { return rows_; }
  [[nodiscard]] std::int64_t columns() const override { return columns_; }
  [[nodiscard]] Status read_row(std::int64_t /*row*/, Range /*columns*/, Complex* /*to*/) override {
    return Error{ErrorKind::invalid, "no part of the hologram is among the inputs"};
  }

 private:
  std::int64_t rows_, columns_;
};

// Nothing if there is no block among the inputs.
std::unique_ptr<Pixels> open_blocks(const kit::Problem& problem) {
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(problem.directory() / "inputs", fault)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("columns-") && !name.starts_with("rows-")) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    char end[block_end_bytes];
    if (!file.seekg(-block_end_bytes, std::ios::end).read(end, block_end_bytes)) continue;
    kit::Unpacker unpacker({end, sizeof end});
    const std::int64_t rows = unpacker.get<std::uint32_t>();
    const std::int64_t columns = unpacker.get<std::uint32_t>();
    if (rows < 1 || columns < 1 || rows > side_max || columns > side_max) continue;
    return std::make_unique<UnseenPixels>(rows, columns);
  }
  return nullptr;
}

class SyntheticPixels : public Pixels {
 public:
  explicit SyntheticPixels(const Settings& settings)
      : rows_(settings.rows > 0 ? settings.rows : synthetic_side),
        columns_(settings.columns > 0 ? settings.columns : synthetic_side) {}
  [[nodiscard]] std::int64_t rows() const final { return rows_; }
  [[nodiscard]] std::int64_t columns() const final { return columns_; }

 private:
  std::int64_t rows_, columns_;
};

// A Gaussian beam at its waist: exp(-r^2 / w^2).
class GaussianPixels final : public SyntheticPixels {
 public:
  explicit GaussianPixels(const Settings& settings)
      : SyntheticPixels(settings),
        vertical_(profile(rows(), settings.row_pitch, settings.waist)),
        horizontal_(profile(columns(), settings.column_pitch, settings.waist)) {}
  [[nodiscard]] Status read_row(std::int64_t row, Range columns, Complex* to) override {
    for (std::int64_t i = columns.begin; i < columns.end; ++i)
      *to++ = static_cast<float>(vertical_[static_cast<std::size_t>(row)] *
                                 horizontal_[static_cast<std::size_t>(i)]);
    return {};
  }

 private:
  static std::vector<double> profile(std::int64_t count, double pitch, double waist) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const double place = static_cast<double>(i - count / 2) * pitch / waist;
      values[static_cast<std::size_t>(i)] = kit::portable_exp(-(place * place));
    }
    return values;
  }
  std::vector<double> vertical_, horizontal_;
};

// What a sensor records of point sources and a plane reference wave: |1 + sum of a exp(i pi r^2 / (lambda
// z))|^2 with z = -distance. Each wave is faded out where its fringes become finer than two pixels.
class PointPixels final : public SyntheticPixels {
 public:
  explicit PointPixels(const Settings& settings) : SyntheticPixels(settings) {
    const double amplitude = 0.5 / std::sqrt(static_cast<double>(settings.points));
    for (const auto& [row, column] : point_places(settings, rows(), columns())) {
      points_.push_back({fringes(settings, row, rows(), settings.row_pitch, amplitude),
                         fringes(settings, column, columns(), settings.column_pitch, 1)});
    }
  }
  [[nodiscard]] Status read_row(std::int64_t row, Range columns, Complex* to) override {
    std::fill_n(to, columns.size(), Complex(1, 0));
    for (const Point& point : points_) {
      if (!point.vertical.range.contains(row)) continue;
      const Complex factor = point.vertical.wave[static_cast<std::size_t>(row - point.vertical.range.begin)];
      const Axis& axis = point.horizontal;
      const std::int64_t begin = std::max(columns.begin, axis.range.begin);
      const std::int64_t end = std::min(columns.end, axis.range.end);
      for (std::int64_t i = begin; i < end; ++i)
        to[i - columns.begin] += times(factor, axis.wave[static_cast<std::size_t>(i - axis.range.begin)]);
    }
    for (std::int64_t i = 0; i < columns.size(); ++i)
      to[i] = to[i].real() * to[i].real() + to[i].imag() * to[i].imag();
    return {};
  }

 private:
  struct Axis {
    Range range;
    std::vector<Complex> wave;
  };
  struct Point {
    Axis vertical, horizontal;
  };
  static Axis fringes(const Settings& settings, std::int64_t at, std::int64_t count, double pitch,
                      double amplitude) {
    const double reach = std::abs(settings.wavelength * settings.distance) / (2 * pitch * pitch);  // pixels
    const auto whole = static_cast<std::int64_t>(std::min(reach, static_cast<double>(side_max)));
    Axis axis;
    axis.range = {std::max<std::int64_t>(0, at - whole), std::min(count, at + whole + 1)};
    const double scale = -pitch * pitch / (2 * settings.wavelength * settings.distance);
    for (std::int64_t i = axis.range.begin; i < axis.range.end; ++i) {
      const auto place = static_cast<double>(i - at);
      const double part = place / std::max(reach, 1.0);
      const double fade = std::max(0.0, 1 - part * part);
      const Complex wave = phasor(scale * (place * place));
      axis.wave.push_back(wave * static_cast<float>(amplitude * fade * fade));
    }
    return axis;
  }
  std::vector<Point> points_;
};

}  // namespace

std::vector<std::pair<std::int64_t, std::int64_t>> point_places(const Settings& settings, std::int64_t rows,
                                                                std::int64_t columns) {
  constexpr double golden_turns = 0.38196601125010515;  // seeds of a sunflower: even, and no two alike
  constexpr double two_pi = 0x1.921fb54442d18p+2;
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (std::int64_t i = 0; i < settings.points; ++i) {
    const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(settings.points);
    const double radius = 0.3 * static_cast<double>(std::min(rows, columns)) * std::sqrt(part);
    const double turns = golden_turns * static_cast<double>(i);
    const double angle = two_pi * (turns - std::floor(turns));
    places.emplace_back(
        rows / 2 + static_cast<std::int64_t>(std::floor(radius * kit::portable_sin(angle))),
        columns / 2 + static_cast<std::int64_t>(std::floor(radius * kit::portable_cos(angle))));
  }
  return places;
}

Result<std::unique_ptr<Pixels>> open_pixels(const kit::Problem& problem, const Settings& settings) {
  if (settings.synthetic == Synthetic::points) return std::unique_ptr<Pixels>(new PointPixels(settings));
  if (settings.synthetic == Synthetic::gaussian) return std::unique_ptr<Pixels>(new GaussianPixels(settings));
  if (problem.input_path(parts_name).ok()) return open_parts(problem);
  const auto path = problem.input_path(input_name);
  if (!path.ok()) {
    if (path.error().kind != ErrorKind::not_found) return path.error();
    if (auto unseen = open_blocks(problem)) return unseen;
    return Error{ErrorKind::invalid, "give a PGM or TIFF file as the input `hologram`, or set `synthetic`"};
  }
  TRY_ASSIGN(ImageFile file, ImageFile::open(settings, *path));
  return std::unique_ptr<Pixels>(new FilePixels(std::move(file)));
}

Lines::Lines(const Settings& settings, const Layout& layout, Pixels& pixels)
    : settings_(settings), layout_(layout), pixels_(pixels) {
  if (settings.method == Method::direct) row_chirp_ = chirp(settings, layout.rows(), settings.row_pitch);
}

namespace {

// exp(2 pi i / (lambda d) k m dm^2), m from the centre: what keeps a window's view in its place.
Complex ramp(const Settings& settings, std::int64_t shift, std::int64_t from_centre, double pitch) {
  const double turns = pitch * pitch / (settings.wavelength * settings.distance) *
                       static_cast<double>(shift) * static_cast<double>(from_centre);
  return phasor(turns);
}

}  // namespace

void Lines::prepare(std::size_t view) {
  view_ = view;
  column_factor_.clear();
  if (settings_.method == Method::direct)
    column_factor_ = chirp(settings_, layout_.columns(), settings_.column_pitch);
  const std::int64_t shift = layout_.views()[view].aperture.column_shift;
  if (shift == 0) return;
  if (column_factor_.empty())
    column_factor_.assign(static_cast<std::size_t>(layout_.columns()), Complex(1, 0));
  for (std::int64_t i = 0; i < layout_.columns(); ++i) {
    Complex& factor = column_factor_[static_cast<std::size_t>(i)];
    factor = times(factor, ramp(settings_, shift, i - layout_.columns() / 2, settings_.column_pitch));
  }
}

Status Lines::fill(std::size_t view, std::int64_t row, Complex* line) {
  if (view != view_) prepare(view);
  const View& seen = layout_.views()[view];
  std::fill_n(line, layout_.columns(), Complex(0, 0));
  if (!seen.rows.contains(row)) return {};
  const std::int64_t from_centre = row - layout_.rows() / 2;
  const std::int64_t image_row = from_centre + seen.aperture.row_shift + pixels_.rows() / 2;
  const std::int64_t moved =
      seen.aperture.column_shift + pixels_.columns() / 2 - layout_.columns() / 2;  // plane to hologram
  TRY(pixels_.read_row(image_row, {seen.columns.begin + moved, seen.columns.end + moved},
                       line + seen.columns.begin));
  Complex factor(1, 0);
  if (!row_chirp_.empty()) factor = row_chirp_[static_cast<std::size_t>(row)];
  if (seen.aperture.row_shift != 0)
    factor = times(factor, ramp(settings_, seen.aperture.row_shift, from_centre, settings_.row_pitch));
  const bool plain = factor == Complex(1, 0);
  const auto background = static_cast<float>(settings_.background);
  for (std::int64_t i = seen.columns.begin; i < seen.columns.end; ++i) {
    Complex value = line[i] - background;
    if (!column_factor_.empty()) value = times(value, column_factor_[static_cast<std::size_t>(i)]);
    line[i] = plain ? value : times(value, factor);
  }
  return {};
}

}  // namespace gleaner::hologram

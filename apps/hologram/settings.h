// The parameters of a reconstruction. Lengths are metres here and what the names say in parameters.json.
// Conventions: waves are exp(+ikr); `distance` is how far the field is propagated, so that an object at
// distance z before the hologram is in focus at -z.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/kit/problem.h"
#include "shared/base/result.h"

namespace gleaner::hologram {

enum class Method { convolution, direct };
enum class Product { amplitude, intensity, phase, field };
enum class Synthetic { none, points, gaussian };
// How the input's pixels are stored; `detect`: a PGM or TIFF file says so itself.
enum class Format { detect, u8, u16, f32, c64 };

// A window of the hologram: `rows` x `columns` pixels around the pixel that is (row_shift, column_shift) from
// the hologram's centre.
struct Aperture {
  std::int64_t row_shift = 0, column_shift = 0;
  std::int64_t rows = 0, columns = 0;
};

struct Settings {
  Method method = Method::convolution;
  Product product = Product::amplitude;
  double wavelength = 633e-9;
  double distance = -0.05;
  double row_pitch = 8e-6;     // from one row to the next
  double column_pitch = 8e-6;  // from one pixel of a row to the next
  std::int64_t rows = 0;       // of the plane that is computed; 0: the hologram's, made a power of two
  std::int64_t columns = 0;
  std::vector<Aperture> apertures;  // none: the whole hologram
  double background = 0;            // taken off each pixel
  Format format = Format::detect;
  std::int64_t image_rows = 0;  // of an input that does not say
  std::int64_t image_columns = 0;
  Synthetic synthetic = Synthetic::none;
  std::int64_t points = 24;
  double waist = 3e-4;
  std::int64_t picture = 1024;  // pixels of its longer side, at most
  bool raw = false;             // the whole field as a file, too
};

inline constexpr std::int64_t side_min = 64;
inline constexpr std::int64_t side_max = 65536;
inline constexpr std::size_t apertures_max = 16;
inline constexpr const char* input_name = "hologram";

// "K,L,S,T; K,L,S,T; …": shifts and sizes in rows and columns.
[[nodiscard]] Result<std::vector<Aperture>> parse_apertures(const std::string& text);

// invalid with every mistake named.
[[nodiscard]] Result<Settings> read_settings(const kit::Problem& problem);

}  // namespace gleaner::hologram

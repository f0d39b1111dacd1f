// What people get: pictures of each view, the field as numbers if asked for, and report.json. Memory: a
// picture or two of each view, and one line.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "apps/hologram/stages.h"
#include "apps/hologram/thumbnail.h"
#include "apps/hologram/tiles.h"
#include "apps/kit/manager.h"

namespace gleaner::hologram {

// Pictures of what the items of a stage hold, in any order and with gaps: of the result in the last stage, of
// magnitudes over eight decades before it.
class Pictures {
 public:
  Pictures(const Task& task, int stage, Form form);
  // `block`: of the form's rows or columns, with all its bytes.
  void take(std::size_t view, std::int64_t block, std::string_view bytes);
  // Writes amplitude.png, intensity.png and phase.png as the problem asks, or preview.png.
  [[nodiscard]] Status write(kit::Output& output) const;

 private:
  struct OfView {
    std::optional<Thumbnail> brightness, phase;
  };
  const Task& task_;
  bool last_;  // stage
  Form form_;
  std::vector<OfView> views_;
};

struct ViewSummary {
  double energy = 0;  // the sum of all intensities
  float brightest = -1;
  std::int64_t row = 0, column = 0;  // of the brightest
};

// Takes blocks of rows of the last stage's pixels, all of them in order, view by view.
class Artefacts {
 public:
  explicit Artefacts(const Task& task);
  // The first that fails is finish()'s error.
  void take(std::size_t view, std::int64_t row_block, std::string_view bytes, const kit::Output& output);
  // `energies`: of each view before the transform.
  [[nodiscard]] Status finish(const std::vector<double>& energies, kit::Output& output);

 private:
  [[nodiscard]] Status write_raw(std::size_t view, std::int64_t row_block, std::string_view bytes,
                                 const kit::Output& output);
  void summarise(ViewSummary& summary, std::int64_t row_block, std::string_view bytes) const;
  [[nodiscard]] std::string report(const std::vector<double>& energies) const;

  const Task& task_;
  Form form_;
  Pictures pictures_;
  std::vector<ViewSummary> summaries_;
  std::ofstream raw_;
  Status status_;
};

// The sum of |z|^2 of complex numbers.
[[nodiscard]] double energy_of(std::string_view bytes);

}  // namespace gleaner::hologram

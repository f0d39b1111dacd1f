// From a problem's parameters to the bytes of a scan-line: 8-bit sRGB, three bytes a pixel, left to right.
// Const and thread-safe once loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "apps/kit/kernel.h"
#include "apps/kit/manager.h"
#include "apps/raytrace/tracer.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::raytrace {

class Renderer {
 public:
  // Parameters: scene "A" … "D" or file (an input's name), width, height, samples, brute_force. Errors:
  // invalid with every mistake named.
  [[nodiscard]] static Result<std::unique_ptr<Renderer>> load(const kit::Problem& problem);
  Renderer(Scene scene, Picture picture, Search search);

  [[nodiscard]] const Scene& scene() const { return scene_; }
  [[nodiscard]] const Picture& picture() const { return picture_; }
  [[nodiscard]] const Tracer& tracer() const { return tracer_; }

  [[nodiscard]] Bytes line(std::int64_t row, kit::ItemContext& context) const;
  // The cost of each line from a few rays of it, in a fraction of a second; deterministic. The mean is 1.
  [[nodiscard]] std::vector<kit::ItemHint> estimate_costs() const;

 private:
  const Scene scene_;
  const Picture picture_;
  const Tracer tracer_;
};

// What `load` takes from parameters.json, without the scene; enough for what needs only the picture's size.
struct Settings {
  std::string scene;  // bundled; empty if `file` is given
  std::string file;
  Picture picture;  // samples 0: as the scene says
  bool brute_force = false;
};
[[nodiscard]] Result<Settings> read_settings(const kit::Problem& problem);

// Linear light to 8-bit sRGB (IEC 61966-2-1), after a film-like curve (Narkowicz 2015).
[[nodiscard]] unsigned char to_byte(double linear);

// The kernel's factory.
[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem);

}  // namespace gleaner::raytrace

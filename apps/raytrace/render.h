// From a problem's parameters to the bytes of a scan-line: 8-bit sRGB, three bytes a pixel, left to right.
// Const and thread-safe once loaded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "apps/kit/kernel.h"
#include "apps/kit/manager.h"
#include "apps/raytrace/animation.h"
#include "apps/raytrace/tracer.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"

namespace gleaner::raytrace {

class Renderer {
 public:
  // Parameters as SCENE.md lists them. Errors: invalid with every mistake named.
  [[nodiscard]] static Result<std::unique_ptr<Renderer>> load(const kit::Problem& problem);
  Renderer(Scene scene, Picture picture, Search search, const Animation& animation = {},
           const std::vector<Camera>& cameras = {});

  [[nodiscard]] const Scene& scene() const { return scene_; }
  [[nodiscard]] const Picture& picture() const { return picture_; }
  [[nodiscard]] const Tracer& tracer() const { return tracer_; }
  [[nodiscard]] const Animation& animation() const { return animation_; }
  // Lines of all frames that are drawn, frame after frame.
  [[nodiscard]] std::int64_t items() const { return animation_.drawn() * picture_.height; }

  [[nodiscard]] Bytes line(std::int64_t item, kit::ItemContext& context) const;
  // Three bytes of it.
  [[nodiscard]] Bytes pixel(std::int64_t item, std::int64_t column) const;
  // The cost of each item from a few rays of some, in a fraction of a second; deterministic. The mean is 1.
  [[nodiscard]] std::vector<kit::ItemHint> estimate_costs() const;

 private:
  const Scene scene_;
  const Picture picture_;
  const Animation animation_;
  const std::vector<Camera> cameras_;
  const Tracer tracer_;
};

// What `load` takes from parameters.json, without the scene; enough for what needs only the picture's size.
struct Settings {
  std::string scene;  // bundled; empty if `file` is given
  std::string file;
  Picture picture;  // samples 0: as the scene says
  bool brute_force = false;
  Animation animation;
};
[[nodiscard]] Result<Settings> read_settings(const kit::Problem& problem);

// Linear light to 8-bit sRGB (IEC 61966-2-1), after a film-like curve (Narkowicz 2015).
[[nodiscard]] unsigned char to_byte(double linear);

// The kernel's factory.
[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem);

}  // namespace gleaner::raytrace

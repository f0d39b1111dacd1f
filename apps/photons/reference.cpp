#include "apps/photons/reference.h"

#include <cmath>
#include <random>

namespace gleaner::photons {
namespace {

constexpr double pi = 3.14159265358979323846;

class ReferenceWalk {
 public:
  ReferenceWalk(const Settings& settings, std::uint32_t seed) : settings_(settings), generator_(seed) {
    result_.grid.resize(static_cast<std::size_t>(settings.radial_cells * settings.depth_cells));
    double depth = 0;
    for (const TissueLayer& layer : settings.tissue.layers) {
      tops_.push_back(depth);
      depth += layer.thickness;
      bottoms_.push_back(depth);
    }
  }

  void photon() {
    const double n = settings_.tissue.layers[0].index;
    const double specular = (settings_.tissue.index_above - n) / (settings_.tissue.index_above + n);
    x_ = y_ = z_ = ux_ = uy_ = left_ = path_ = 0;
    uz_ = 1;
    layer_ = 0;
    weight_ = 1 - specular * specular;
    alive_ = true;
    while (alive_) {
      hop();
      if (alive_ && weight_ < 1e-4) roulette();
    }
  }
  [[nodiscard]] ReferenceResult result(std::int64_t photons) const {
    ReferenceResult result = result_;
    const auto sent = static_cast<double>(photons);
    for (double* value :
         {&result.reflected, &result.transmitted, &result.absorbed, &result.detected, &result.path})
      *value /= sent;
    return result;
  }

 private:
  double random() { return (static_cast<double>(generator_()) + 0.5) / 4294967296.0; }

  void hop() {
    const TissueLayer& layer = settings_.tissue.layers[layer_];
    const double attenuation = layer.absorption + layer.scattering;
    double step = 0;
    if (attenuation > 0) {
      if (left_ == 0) left_ = -std::log(random());
      step = left_ / attenuation;
    }
    double border = INFINITY;
    if (uz_ > 0) border = (bottoms_[layer_] - z_) / uz_;
    if (uz_ < 0) border = (tops_[layer_] - z_) / uz_;
    if (attenuation == 0 || step > border) {
      move(border);
      left_ = attenuation == 0 ? left_ : (step - border) * attenuation;
      cross();
      return;
    }
    move(step);
    left_ = 0;
    drop(layer.absorption / attenuation);
    spin(layer.anisotropy);
  }
  void move(double step) {
    x_ += step * ux_;
    y_ += step * uy_;
    z_ += step * uz_;
    path_ += step;
  }
  void drop(double part) {
    const double taken = weight_ * part;
    weight_ -= taken;
    result_.absorbed += taken;
    const double r = std::sqrt(x_ * x_ + y_ * y_) / settings_.radial_step;
    const double z = z_ / settings_.depth_step;
    const auto row = r < static_cast<double>(settings_.radial_cells) ? static_cast<std::int64_t>(r)
                                                                     : settings_.radial_cells - 1;
    const auto column = z < static_cast<double>(settings_.depth_cells) ? static_cast<std::int64_t>(z)
                                                                       : settings_.depth_cells - 1;
    result_.grid[static_cast<std::size_t>(row * settings_.depth_cells + column)] += taken;
  }
  void spin(double g) {
    double cosine = 2 * random() - 1;
    if (g != 0) {
      const double t = (1 - g * g) / (1 + g * cosine);
      cosine = (1 + g * g - t * t) / (2 * g);
    }
    const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
    const double angle = 2 * pi * random();
    const double cos_psi = std::cos(angle);
    const double sin_psi = angle < pi ? std::sqrt(1 - cos_psi * cos_psi) : -std::sqrt(1 - cos_psi * cos_psi);
    if (std::abs(uz_) > 1 - 1e-12) {
      ux_ = sine * cos_psi;
      uy_ = sine * sin_psi;
      uz_ = uz_ < 0 ? -cosine : cosine;
      return;
    }
    const double flat = std::sqrt(1 - uz_ * uz_);
    const double ux = sine * (ux_ * uz_ * cos_psi - uy_ * sin_psi) / flat + ux_ * cosine;
    const double uy = sine * (uy_ * uz_ * cos_psi + ux_ * sin_psi) / flat + uy_ * cosine;
    uz_ = -sine * cos_psi * flat + uz_ * cosine;
    ux_ = ux;
    uy_ = uy;
  }
  void cross() {
    const bool up = uz_ < 0;
    const std::size_t count = settings_.tissue.layers.size();
    const bool leaves = up ? layer_ == 0 : layer_ + 1 == count;
    const double n1 = settings_.tissue.layers[layer_].index;
    const double n2 = leaves ? (up ? settings_.tissue.index_above : settings_.tissue.index_below)
                             : settings_.tissue.layers[up ? layer_ - 1 : layer_ + 1].index;
    const double c1 = std::min(1.0, std::abs(uz_));
    double reflected = 0;
    double c2 = c1;
    const double s2 = n1 / n2 * std::sqrt(1 - c1 * c1);
    if (s2 >= 1) {
      reflected = 1;
    } else if (n1 != n2) {
      c2 = std::sqrt(1 - s2 * s2);
      // By sums and differences of the angles, as the manual prints it; straight through at right angles.
      if (c1 > 1 - 1e-12) {
        reflected = (n1 - n2) * (n1 - n2) / ((n1 + n2) * (n1 + n2));
      } else {
        const double s1 = std::sqrt(1 - c1 * c1);
        const double plus_c = c1 * c2 - s1 * s2, minus_c = c1 * c2 + s1 * s2;
        const double plus_s = s1 * c2 + c1 * s2, minus_s = s1 * c2 - c1 * s2;
        reflected = 0.5 * minus_s * minus_s * (minus_c * minus_c + plus_c * plus_c) /
                    (plus_s * plus_s * minus_c * minus_c);
      }
    }
    if (random() <= reflected) {
      uz_ = -uz_;
      return;
    }
    if (leaves) {
      leave(up, c2);
      return;
    }
    layer_ = up ? layer_ - 1 : layer_ + 1;
    ux_ *= n1 / n2;
    uy_ *= n1 / n2;
    uz_ = up ? -c2 : c2;
  }
  void leave(bool up, double cosine) {
    alive_ = false;
    (up ? result_.reflected : result_.transmitted) += weight_;
    const double radius = std::sqrt(x_ * x_ + y_ * y_);
    if (!up || !settings_.detects() ||
        std::abs(radius - settings_.detector_radius) > settings_.detector_half_width)
      return;
    if (std::acos(cosine) * 180 / pi > settings_.detector_angle) return;
    result_.detected += weight_;
    result_.path += weight_ * path_;
  }
  void roulette() {
    if (weight_ > 0 && random() < 0.1)
      weight_ *= 10;
    else
      alive_ = false;
  }

  const Settings& settings_;
  std::mt19937 generator_;
  ReferenceResult result_;
  std::vector<double> tops_, bottoms_;
  double x_ = 0, y_ = 0, z_ = 0, ux_ = 0, uy_ = 0, uz_ = 1, weight_ = 1, left_ = 0, path_ = 0;
  std::size_t layer_ = 0;
  bool alive_ = true;
};

}  // namespace

ReferenceResult reference_walk(const Settings& settings, std::int64_t photons, std::uint32_t seed) {
  ReferenceWalk walk(settings, seed);
  for (std::int64_t i = 0; i < photons; ++i) walk.photon();
  return walk.result(photons);
}

}  // namespace gleaner::photons

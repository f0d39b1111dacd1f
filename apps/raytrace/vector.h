// Three doubles with the operations a ray tracer needs: IEEE basic operations and square roots only, in a
// fixed order, so that every machine computes the same bits. Used for points, directions and colours alike.
#pragma once

#include <cmath>

namespace gleaner::raytrace {

struct Vector {
  double x = 0, y = 0, z = 0;

  friend Vector operator+(Vector a, Vector b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  friend Vector operator-(Vector a, Vector b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Vector operator*(Vector a, Vector b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }  // by component
  friend Vector operator*(Vector a, double s) { return {a.x * s, a.y * s, a.z * s}; }
  friend Vector operator*(double s, Vector a) { return a * s; }
  friend Vector operator-(Vector a) { return {-a.x, -a.y, -a.z}; }
  friend bool operator==(Vector a, Vector b) = default;
  Vector& operator+=(Vector b) { return *this = *this + b; }
};

[[nodiscard]] inline double dot(Vector a, Vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
[[nodiscard]] inline Vector cross(Vector a, Vector b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
[[nodiscard]] inline double length(Vector a) {
  return std::sqrt(dot(a, a));
}
// REQUIRES: not the zero vector.
[[nodiscard]] inline Vector normalized(Vector a) {
  return a * (1 / length(a));
}
[[nodiscard]] inline Vector mix(Vector a, Vector b, double part) {
  return a * (1 - part) + b * part;
}
[[nodiscard]] inline double largest(Vector a) {
  const double xy = a.x > a.y ? a.x : a.y;
  return xy > a.z ? xy : a.z;
}
[[nodiscard]] inline Vector least(Vector a, Vector b) {
  return {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
[[nodiscard]] inline Vector greatest(Vector a, Vector b) {
  return {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}
// Two directions at right angles to the unit vector `n` and to each other (Duff et al. 2017).
inline void tangents(Vector n, Vector& a, Vector& b) {
  const double sign = n.z < 0 ? -1.0 : 1.0;
  const double p = -1 / (sign + n.z);
  const double q = n.x * n.y * p;
  a = {1 + sign * n.x * n.x * p, sign * q, -sign * n.x};
  b = {q, sign + n.y * n.y * p, -n.y};
}
// x^n for n >= 0, by squaring.
[[nodiscard]] inline double power(double x, int n) {
  double result = 1;
  for (; n > 0; n >>= 1, x *= x) {
    if (n & 1) result *= x;
  }
  return result;
}

}  // namespace gleaner::raytrace

#include "apps/dlog/collisions.h"

#include <fstream>

#include "apps/kit/packing.h"

namespace gleaner::dlog {

Collisions::Collisions(const Group& group, std::filesystem::path file)
    : group_(group),
      file_(std::move(file)),
      record_bytes_(group.element_bytes() + 2 * group.exponent_bytes()) {
  if (file_.empty()) return;
  std::ifstream stream(file_, std::ios::binary);
  Bytes record(record_bytes_, '\0');
  Bytes nothing;
  while (stream.read(record.data(), static_cast<std::streamsize>(record_bytes_)))
    take(record, false, nothing);
  stream.close();
  std::error_code ignored;  // there may be no file yet
  std::filesystem::resize_file(file_, records_.size(), ignored);
}

void Collisions::take(std::string_view record, bool fresh, Bytes& appended) {
  const std::size_t element_bytes = group_.element_bytes();
  const std::size_t exponent_bytes = group_.exponent_bytes();
  kit::Unpacker first(record.substr(0, 8));
  const auto limb = first.get<std::uint64_t>();
  const auto a = [&](std::string_view from) {
    return from_bytes(from.substr(element_bytes, exponent_bytes));
  };
  const auto b = [&](std::string_view from) {
    return from_bytes(from.substr(element_bytes + exponent_bytes));
  };
  bool known = false;
  const auto [begin, end] = places_.equal_range(limb);
  for (auto place = begin; place != end; ++place) {
    const std::string_view other = std::string_view(records_).substr(place->second, record_bytes_);
    if (other.substr(0, element_bytes) != record.substr(0, element_bytes)) continue;
    known = known || other == record;
    // g^a y^b = g^a' y^b', so x = (a - a') / (b' - b).
    const auto divisor = inverse(modulo(b(other) - b(record), group_.q), group_.q);
    if (!divisor || solution_) continue;
    const mpz_class x = modulo(mpz_class((a(record) - a(other)) * *divisor), group_.q);
    if (power(group_.g, x, group_.p) == group_.y) solution_ = x;
  }
  if (known && fresh) return;
  places_.emplace(limb, records_.size());
  records_ += record;
  if (fresh) appended += record;
}

Status Collisions::add(const std::vector<Point>& points) {
  Bytes appended;
  for (const Point& point : points) take(point.element + point.a + point.b, true, appended);
  if (file_.empty() || appended.empty()) return {};
  std::ofstream stream(file_, std::ios::binary | std::ios::app);
  stream.write(appended.data(), static_cast<std::streamsize>(appended.size()));
  stream.close();
  if (!stream) return Error{ErrorKind::io, "cannot write " + file_.string() + " (is the disk full?)"};
  return {};
}

bool is_right(const Group& group, const Point& point) {
  const mpz_class element = modulo(
      mpz_class(power(group.g, from_bytes(point.a), group.p) * power(group.y, from_bytes(point.b), group.p)),
      group.p);
  return to_bytes(to_montgomery(group, element), group.element_bytes()) == point.element;
}

}  // namespace gleaner::dlog

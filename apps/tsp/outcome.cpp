#include "apps/tsp/outcome.h"

#include "apps/kit/packing.h"
#include "apps/tsp/matrix.h"

namespace gleaner::tsp {

bool Outcome::better_than(const Outcome& other) const {
  if (length == no_tour || other.length == no_tour) return length != no_tour;
  return length != other.length ? length < other.length : tour < other.tour;
}

Bytes encode(const Outcome& outcome) {
  Bytes bytes;
  kit::pack(bytes, outcome.visited);
  kit::pack(bytes, outcome.sum);
  kit::pack(bytes, outcome.length);
  for (const int city : outcome.tour) bytes.push_back(static_cast<char>(city));
  return bytes;
}

Result<Outcome> decode(std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  Outcome outcome;
  outcome.visited = unpacker.get<std::uint64_t>();
  outcome.sum = unpacker.get<std::uint64_t>();
  outcome.length = unpacker.get<std::int64_t>();
  while (unpacker.left() > 0) outcome.tour.push_back(unpacker.get<std::uint8_t>());
  const bool sensible = outcome.tour.size() <= static_cast<std::size_t>(cities_max) &&
                        outcome.tour.empty() == (outcome.length == no_tour) && outcome.length >= no_tour;
  if (!unpacker.complete() || !sensible) return Error{ErrorKind::invalid, "it is not counts and a tour"};
  return outcome;
}

}  // namespace gleaner::tsp

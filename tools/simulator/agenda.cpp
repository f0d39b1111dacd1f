#include "tools/simulator/agenda.h"

#include <numeric>

#include "shared/base/check.h"

namespace gleaner::simulator {

Agenda::Agenda(std::size_t hosts) : times_(hosts, never), heap_(hosts), places_(hosts) {
  CHECK_TRUE(hosts > 0 && hosts < std::numeric_limits<std::uint32_t>::max());
  std::iota(heap_.begin(), heap_.end(), 0U);
  std::iota(places_.begin(), places_.end(), 0U);
}

void Agenda::set(std::size_t host, double time) {
  if (times_[host] == time) return;
  times_[host] = time;
  const auto moved = static_cast<std::uint32_t>(host);
  std::size_t place = places_[host];
  while (place > 0 && before(moved, heap_[(place - 1) / 2])) {
    put(place, heap_[(place - 1) / 2]);
    place = (place - 1) / 2;
  }
  for (;;) {
    std::size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
    if (!before(heap_[child], moved)) break;
    put(place, heap_[child]);
    place = child;
  }
  put(place, moved);
}

}  // namespace gleaner::simulator

// For tools/bench: solves a made-up problem on one core and says what it was and took.
//   bench-dlog BITS ORDER_BITS SEED: "p q g y SECONDS STEPS EXPECTED" (processor time)
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "apps/dlog/collisions.h"
#include "apps/dlog/settings.h"

int main(int count, char** arguments) {
  using namespace gleaner;
  using namespace gleaner::dlog;
  if (count != 4) return 2;
  Group group = made_up_group(std::atoi(arguments[1]), std::atoi(arguments[2]),
                              static_cast<std::uint64_t>(std::atoll(arguments[3])));
  group.choose_walks();
  const std::clock_t begin = std::clock();
  Walker walker(group);
  Collisions collisions(group, {});
  kit::ItemContext quiet;
  double steps = 0;
  for (std::int64_t item = 0; !collisions.solution(); ++item) {
    const Points points = walker.run(item, quiet);
    steps += static_cast<double>(points.steps);
    if (!collisions.add(points.points).ok()) return 1;
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%s %s %s %s %.3f %.0f %.0f\n", to_text(group.p).c_str(), to_text(group.q).c_str(),
              to_text(group.g).c_str(), to_text(group.y).c_str(), seconds, steps, group.expected_steps());
}

// The example strategy of CONTRIBUTING.md, taken from that page when the build is configured: it compiles and
// does what it says.
#include "contributing_example.inc"
#include "tests/catch.h"

using namespace gleaner;
using namespace gleaner::policy;

TEST_CASE("the example strategy of CONTRIBUTING.md") {
  const Half half(SizingMode::paper);
  CHECK(half.text() == "half,mode=paper");
  const std::vector<WorkerView> workers(4);
  SizingView view;
  view.items = view.free = 80;
  view.workers = workers;
  CHECK(half.size(view).items == 10);
  view.free = 3;
  CHECK(half.size(view).items == 1);
  CHECK(Half(SizingMode::grid).size(view).reason == "half of an even share");
}

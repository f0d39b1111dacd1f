#include "apps/tsp/settings.h"

int main() {
  return gleaner::kit::kernel_main(gleaner::tsp::make_kernel);
}

#include "apps/hologram/stages.h"

int main() {
  return gleaner::kit::kernel_main(gleaner::hologram::make_kernel);
}

#include "apps/photons/outcome.h"

int main() {
  return gleaner::kit::kernel_main(gleaner::photons::make_kernel);
}

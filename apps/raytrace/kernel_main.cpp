#include "apps/raytrace/render.h"

int main() {
  return gleaner::kit::kernel_main(gleaner::raytrace::make_kernel, gleaner::kit::Checkpoints::offered);
}

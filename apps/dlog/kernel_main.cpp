#include "apps/dlog/walk.h"

int main() {
  return gleaner::kit::kernel_main(gleaner::dlog::make_kernel);
}

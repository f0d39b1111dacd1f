#include "tools/loadgen/application/kernel.h"

int main() {
  return gleaner::kit::kernel_main(gleaner::load::make_kernel);
}

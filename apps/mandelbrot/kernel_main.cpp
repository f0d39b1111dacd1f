#include "apps/mandelbrot/mandelbrot.h"

int main() {
  return gleaner::kit::kernel_main(gleaner::mandelbrot::make_kernel);
}

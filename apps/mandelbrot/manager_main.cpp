#include "apps/mandelbrot/mandelbrot_manager.h"

int main() {
  gleaner::mandelbrot::MandelbrotManager manager;
  return gleaner::kit::manager_main(manager);
}

#include "apps/passwords/search.h"

int main() {
  return gleaner::kit::kernel_main(gleaner::passwords::make_kernel);
}

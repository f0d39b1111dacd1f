#include "apps/dsearch/search.h"

int main() {
  return gleaner::kit::kernel_main(gleaner::dsearch::make_kernel);
}

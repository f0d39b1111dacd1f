#include "apps/tsp/tsp_manager.h"

int main() {
  gleaner::tsp::TspManager manager;
  return gleaner::kit::manager_main(manager);
}

#include "apps/hologram/hologram_manager.h"

int main() {
  gleaner::hologram::HologramManager manager;
  return gleaner::kit::manager_main(manager);
}

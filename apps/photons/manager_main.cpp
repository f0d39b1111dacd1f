#include "apps/photons/photons_manager.h"

int main() {
  gleaner::photons::PhotonsManager manager;
  return gleaner::kit::manager_main(manager);
}

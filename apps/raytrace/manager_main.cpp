#include "apps/raytrace/raytrace_manager.h"

int main() {
  gleaner::raytrace::RaytraceManager manager;
  return gleaner::kit::manager_main(manager);
}

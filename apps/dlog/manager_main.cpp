#include "apps/dlog/dlog_manager.h"

int main() {
  gleaner::dlog::DlogManager manager;
  return gleaner::kit::manager_main(manager);
}

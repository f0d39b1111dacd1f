#include "apps/dsearch/dsearch_manager.h"

int main() {
  gleaner::dsearch::DsearchManager manager;
  return gleaner::kit::manager_main(manager);
}

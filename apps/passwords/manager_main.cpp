#include "apps/passwords/passwords_manager.h"

int main() {
  gleaner::passwords::PasswordsManager manager;
  return gleaner::kit::manager_main(manager);
}

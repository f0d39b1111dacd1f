#include <cstdio>

#include "apps/wrap/wrap_manager.h"

int main(int, char** argv) {
  auto command = gleaner::wrap::read_command(argv[0]);
  if (!command.ok()) {
    std::fprintf(stderr, "%s\n", command.error().message.c_str());
    return 1;
  }
  gleaner::wrap::WrapManager manager(*std::move(command));
  return gleaner::kit::manager_main(manager);
}

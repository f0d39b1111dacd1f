#include "apps/wrap/wrap_kernel.h"

int main(int, char** argv) {
  return gleaner::kit::kernel_main(
      [&](const gleaner::kit::Problem& problem) -> gleaner::Result<std::unique_ptr<gleaner::kit::Kernel>> {
        TRY_ASSIGN(const auto command, gleaner::wrap::read_command(argv[0]));
        return gleaner::wrap::make_kernel(command, problem);
      });
}

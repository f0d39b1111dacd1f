#include "shared/io/process.h"

namespace gleaner::io {

std::string ProcessExit::describe() const {
  return exited() ? "exited with status " + std::to_string(status) : "was killed by " + name;
}

}  // namespace gleaner::io

// What every program's main() is: see run(). Called once, by the first thread, before anything else.
#pragma once

#include <functional>

namespace gleaner::terminal {

// The program's exit status, as `program` returns it. No exception leaves it, whichever thread it is thrown
// in: the program then says a sentence and ends with the status `failed`. So it does where standard output
// did not take all that was printed, unless its reader has gone. What `program` finds open and prints is as
// streams.h and print.h say.
[[nodiscard]] int run(const char* name, const std::function<int()>& program, int failed = 1) noexcept;

}  // namespace gleaner::terminal

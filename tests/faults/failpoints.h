// What happens at the named places of the commit path (shared/base/failpoint.h), as the environment says:
//
//   GLEANER_FAILPOINT=NAME:NTH[:WHAT][,...]
//
// At the NTH time that NAME is reached: kill (the default; SIGKILL to itself), error (the place fails, once)
// or cut (the power fails: disk.h). A wrong text ends the program at once.
#pragma once

namespace gleaner::faults {

void set_failpoints();

}  // namespace gleaner::faults

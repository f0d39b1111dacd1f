#include <sys/prctl.h>

#include "shared/base/thread_name.h"

namespace gleaner {

void name_this_thread(const char* name) {
  ::prctl(PR_SET_NAME, name, 0, 0, 0);  // a failure costs a name only
}

}  // namespace gleaner

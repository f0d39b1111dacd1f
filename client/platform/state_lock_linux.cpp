#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "client/platform/state_lock.h"

namespace gleaner::platform {

Result<StateLock> StateLock::take(const io::Path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return Error{ErrorKind::io, "cannot open " + path.string() + ": " + std::strerror(errno) +
                                    ": does the state directory belong to you?"};
  StateLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return Error{ErrorKind::conflict, "a client runs with the state in " + path.parent_path().string() +
                                          " already: stop it with `gleaner quit`, or use another --state"};
  return lock;
}

void StateLock::release() {
  if (native_ == none) return;
  const int descriptor = static_cast<int>(std::exchange(native_, none));
  // Closing is not enough: a child that has not yet become the program it is to be has the file open, too.
  ::flock(descriptor, LOCK_UN);
  ::close(descriptor);
}

io::Path default_state_directory() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  // systemd may name several, separated by colons.
  if (const std::string state = variable("STATE_DIRECTORY"); !state.empty())
    return state.substr(0, state.find(':'));
  if (::geteuid() == 0) return "/var/lib/gleaner-client";
  if (const std::string data = variable("XDG_DATA_HOME"); !data.empty())
    return io::Path(data) / "gleaner-client";
  std::string home = variable("HOME");
  const passwd* const user = home.empty() ? ::getpwuid(::geteuid()) : nullptr;
  if (user != nullptr) home = user->pw_dir;
  return io::Path(home.empty() ? "/" : home) / ".local/share/gleaner-client";
}

}  // namespace gleaner::platform

#include "shared/terminal/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace gleaner::terminal {

bool is_terminal(std::FILE* stream) {
  return ::isatty(::fileno(stream)) == 1;
}

bool reader_is_gone(std::FILE* stream) {
  pollfd asked{::fileno(stream), 0, 0};
  return ::poll(&asked, 1, 0) > 0 && (asked.revents & (POLLERR | POLLHUP)) != 0;
}

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest number that is free: this one, since those before it are open. For children, too: no
    // O_CLOEXEC.
    if (::open("/dev/null", O_RDWR) == -1) ::open("/", O_RDONLY);  // nothing can be written there either
  }
}

}  // namespace gleaner::terminal

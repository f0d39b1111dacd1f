// Everything of the world that gleaner-admin touches, handed in from main, so that tests can be the world.
// Used by one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "shared/base/clock.h"
#include "shared/io/files.h"
#include "shared/io/http_client.h"
#include "shared/io/process.h"

namespace gleaner::admin {

// What a stream's other end can show.
struct Display {
  bool terminal = false;  // redraws lines
  bool colour = false;    // terminal, TERM is not dumb, NO_COLOR is not set
  bool unicode = false;   // terminal with a UTF-8 locale
  int columns = 80;
};

// What vouches for the server of a connection.
struct Trusted {
  io::Vouchers vouchers;
  std::string tls_key = {};  // of a relay, by crypto::tls_key_digest; empty: it is a server
};

struct Outside {
  std::ostream& out;
  std::ostream& error;
  Display out_display;
  Display error_display;
  io::Files& files;
  io::ProcessRunner& processes;
  Clock& clock;
  // Gleaner's own files are below it (share/gleaner, libexec/gleaner): the parent of the program's directory,
  // installed and in a build tree alike.
  io::Path installation;
  std::function<std::unique_ptr<io::HttpClient>(const Trusted& trusted)> connect;
  // Returns earlier when interrupted.
  std::function<void(Duration)> wait;
  // Has the person pressed Control-C?
  std::function<bool()> interrupted;
  // An environment variable; absent and empty are the same.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // Asks a person a question and returns the answer's line; nothing if standard input is not a terminal.
  std::function<std::optional<std::string>(const std::string& question)> ask;
  // Has the desktop open an address, in a browser that outlives us and with nobody else seeing the address.
  // unavailable: why it was given to none.
  std::function<Status(const std::string& address)> open_browser;
  // Has whoever reads `out` seen enough, as `head` does?
  std::function<bool()> reader_gone;
};

// The real one. Installs a handler for SIGINT and SIGTERM that is good for one interruption: a second one
// kills.
[[nodiscard]] Outside real_outside();

}  // namespace gleaner::admin

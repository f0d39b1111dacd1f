// `gleaner top`: shows live in the terminal what the client is doing. If standard output is not a terminal,
// prints it once.
#pragma once

#include <string>

#include "client/program/control_text.h"
#include "shared/io/files.h"
#include "shared/json/value.h"

namespace gleaner::program {

struct TopSize {
  int columns = 80;
  int lines = 24;
};

// A screenful, lines joined by '\n', none longer than the screen is wide. Missing or wrong fields show as
// blanks. Pure.
[[nodiscard]] std::string top_text(const json::Value& reply, TopSize size, Colour colour);

int run_top(const io::Path& socket);

}  // namespace gleaner::program

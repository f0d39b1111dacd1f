// The sentences below the picture. Pure.
#pragma once

#include <optional>
#include <string>

#include "client/view/view_file.h"

namespace gleaner::screensaver {

struct Writing {
  std::string title;
  std::string sentence;              // what the client does, and why
  std::string here, so_far, others;  // what came of it: now, from this computer, from all; may be empty
  friend bool operator==(const Writing&, const Writing&) = default;
};

// `view`: none if no client publishes anything.
[[nodiscard]] Writing writing_of(const std::optional<view::View>& view);

}  // namespace gleaner::screensaver

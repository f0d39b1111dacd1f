// Reads what a client publishes (client/view/view_file.h) and notices when it changes. Read-only, and nothing
// that stands there is trusted. Platform file: view_source_linux.cpp. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/view/view_file.h"

namespace gleaner::screensaver {

class ViewSource {
 public:
  // The first of `paths` that can be read is taken; asked again at each look until there is one.
  explicit ViewSource(std::vector<std::string> paths) : paths_(std::move(paths)) {}
  ~ViewSource();
  ViewSource(const ViewSource&) = delete;
  ViewSource& operator=(const ViewSource&) = delete;

  // True if view() or pixels() changed.
  [[nodiscard]] bool look();
  // None: no client publishes anything.
  [[nodiscard]] const std::optional<view::View>& view() const { return view_; }
  // Of view()->picture; short or empty if they could not be read.
  [[nodiscard]] const Bytes& pixels() const { return pixels_; }

 private:
  [[nodiscard]] bool open();
  void close();
  std::vector<std::string> paths_;
  int descriptor_ = -1;
  Bytes head_;
  std::optional<view::View> view_;
  Bytes pixels_;
};

// Where clients put it: the service's, then this user's.
[[nodiscard]] std::vector<std::string> usual_views();

}  // namespace gleaner::screensaver

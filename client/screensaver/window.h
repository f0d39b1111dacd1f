// A window to draw into: our own, the whole screen, or one that another program made (SDL2, in software).
// Platform file: window_sdl.cpp. On one thread.
#pragma once

#include <memory>
#include <vector>

#include "client/screensaver/options.h"
#include "client/screensaver/scene.h"
#include "shared/base/result.h"

namespace gleaner::screensaver {

struct Happened {
  bool quit = false;     // closed, or somebody came
  bool resized = false;  // or uncovered: everything is to be put again
};

class Window {
 public:
  // unavailable: no display, or no such window.
  [[nodiscard]] static Result<std::unique_ptr<Window>> open(const Options& options);
  ~Window();

  [[nodiscard]] int width() const;
  [[nodiscard]] int height() const;
  // The changed parts of an image of the window's size, as Scene has it.
  [[nodiscard]] Status put(const Scene& scene, const std::vector<Rect>& changed);
  // Sleeps until something happens or `patience` is over.
  [[nodiscard]] Happened wait(Duration patience);

 private:
  struct State;
  explicit Window(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::screensaver

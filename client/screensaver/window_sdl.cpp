#include <SDL.h>

#include <algorithm>
#include <cstdint>

#include "client/screensaver/root_window.h"
#include "client/screensaver/window.h"

namespace gleaner::screensaver {
namespace {

constexpr Uint32 settle_milliseconds = 600;  // a mouse that still rolls is nobody
constexpr int motion_pixels = 12;

Error failure(const std::string& what) {
  return {ErrorKind::unavailable, what + ": " + SDL_GetError()};
}

}  // namespace

struct Window::State {
  SDL_Window* window = nullptr;
  Place place = Place::window;
  Uint32 opened = 0;
  int moved = 0;

  ~State() {
    // Somebody else's window stays: SDL only forgets it.
    if (window != nullptr) SDL_DestroyWindow(window);
    SDL_Quit();
  }

  [[nodiscard]] bool ends_it(const SDL_Event& event) {
    if (event.type == SDL_QUIT) return true;
    if (event.type == SDL_WINDOWEVENT && event.window.event == SDL_WINDOWEVENT_CLOSE) return true;
    if (place == Place::window)
      return event.type == SDL_KEYDOWN &&
             (event.key.keysym.sym == SDLK_ESCAPE || event.key.keysym.sym == SDLK_q);
    if (place != Place::full_screen || SDL_GetTicks() - opened < settle_milliseconds) return false;
    if (event.type == SDL_MOUSEMOTION) moved += std::abs(event.motion.xrel) + std::abs(event.motion.yrel);
    return event.type == SDL_KEYDOWN || event.type == SDL_MOUSEBUTTONDOWN || event.type == SDL_MOUSEWHEEL ||
           event.type == SDL_FINGERDOWN || moved > motion_pixels;
  }
};

Window::Window(std::unique_ptr<State> state) : state_(std::move(state)) {}
Window::~Window() = default;

Result<std::unique_ptr<Window>> Window::open(const Options& options) {
  SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");        // SIGTERM ends us at once
  SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");  // shared memory: no GPU driver, a tenth of the memory
  std::optional<unsigned long> foreign = options.foreign_window;
  if (options.place == Place::root) {
    SDL_SetHint(SDL_HINT_VIDEODRIVER, "x11");
    foreign = root_window();
    if (!foreign) return Error{ErrorKind::unavailable, "there is no X11 display: set DISPLAY"};
  }
  if (foreign) SDL_SetHint(SDL_HINT_VIDEODRIVER, "x11");
  auto state = std::make_unique<State>();
  state->place = options.place;
  if (SDL_Init(SDL_INIT_VIDEO) != 0) return failure("there is no display to draw on");
  SDL_EnableScreenSaver();  // SDL would keep the screen on
  if (foreign) {
    state->window = SDL_CreateWindowFrom(reinterpret_cast<void*>(static_cast<std::uintptr_t>(*foreign)));
  } else {
    Uint32 flags = SDL_WINDOW_RESIZABLE;
    if (options.place == Place::full_screen) flags = SDL_WINDOW_FULLSCREEN_DESKTOP;
    state->window = SDL_CreateWindow("Gleaner", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, options.width,
                                     options.height, flags);
  }
  if (state->window == nullptr) return failure("the window cannot be opened");
  if (options.place == Place::full_screen) SDL_ShowCursor(SDL_DISABLE);
  state->opened = SDL_GetTicks();
  return std::unique_ptr<Window>(new Window(std::move(state)));
}

int Window::width() const {
  int width = 0;
  SDL_GetWindowSize(state_->window, &width, nullptr);
  return width;
}

int Window::height() const {
  int height = 0;
  SDL_GetWindowSize(state_->window, nullptr, &height);
  return height;
}

Status Window::put(const Scene& scene, const std::vector<Rect>& changed) {
  SDL_Surface* const surface = SDL_GetWindowSurface(state_->window);
  if (surface == nullptr) return failure("the window has no surface");
  std::vector<SDL_Rect> rects;
  for (const Rect& rect : changed) {
    const int left = std::clamp(rect.x, 0, std::min(scene.width(), surface->w));
    const int top = std::clamp(rect.y, 0, std::min(scene.height(), surface->h));
    const int right = std::clamp(rect.x + rect.width, left, std::min(scene.width(), surface->w));
    const int bottom = std::clamp(rect.y + rect.height, top, std::min(scene.height(), surface->h));
    if (left == right || top == bottom) continue;
    const unsigned char* const from =
        scene.image() + static_cast<std::ptrdiff_t>(scene.stride()) * top + std::ptrdiff_t{4} * left;
    unsigned char* const to = static_cast<unsigned char*>(surface->pixels) +
                              static_cast<std::ptrdiff_t>(surface->pitch) * top +
                              std::ptrdiff_t{surface->format->BytesPerPixel} * left;
    if (SDL_ConvertPixels(right - left, bottom - top, SDL_PIXELFORMAT_RGB888, from, scene.stride(),
                          surface->format->format, to, surface->pitch) != 0)
      return failure("the picture cannot be shown in this window's colours");
    rects.push_back({left, top, right - left, bottom - top});
  }
  if (rects.empty()) return {};
  if (SDL_UpdateWindowSurfaceRects(state_->window, rects.data(), static_cast<int>(rects.size())) != 0)
    return failure("the window cannot be drawn to");
  return {};
}

Happened Window::wait(Duration patience) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(patience).count();
  Happened happened;
  SDL_Event event;
  if (SDL_WaitEventTimeout(&event, static_cast<int>(std::clamp<std::int64_t>(milliseconds, 1, 60'000))) == 0)
    return happened;
  do {
    happened.quit = happened.quit || state_->ends_it(event);
    if (event.type == SDL_WINDOWEVENT)
      happened.resized = happened.resized || event.window.event == SDL_WINDOWEVENT_SIZE_CHANGED ||
                         event.window.event == SDL_WINDOWEVENT_EXPOSED;
  } while (SDL_PollEvent(&event) != 0);
  return happened;
}

}  // namespace gleaner::screensaver

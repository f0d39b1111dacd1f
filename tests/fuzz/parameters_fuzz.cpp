// Problem parameters as the bundled applications read them: any JSON, by whoever adds a problem. The first
// byte says whose. Kernels read the same on volunteers' computers.
#include <fstream>

#include "apps/dlog/settings.h"
#include "apps/dsearch/settings.h"
#include "apps/hologram/settings.h"
#include "apps/mandelbrot/mandelbrot.h"
#include "apps/passwords/settings.h"
#include "apps/photons/settings.h"
#include "apps/raytrace/render.h"
#include "apps/tsp/settings.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

template <typename Settings>
void check(const Result<Settings>& settings) {
  CHECK_TRUE(settings.ok() || !settings.error().message.empty());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path directory = fuzz::scratch("parameters");
  static const bool made = std::filesystem::create_directories(directory);
  (void)made;
  if (size == 0) return 0;
  std::ofstream(directory / "parameters.json", std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  const kit::Problem problem(directory);
  switch (data[0] % 8) {
    case 0:
      check(dlog::read_settings(problem));
      break;
    case 1:
      check(dsearch::read_settings(problem));
      break;
    case 2:
      check(hologram::read_settings(problem));
      break;
    case 3:
      check(mandelbrot::read_settings(problem));
      break;
    case 4:
      check(passwords::read_settings(problem));
      break;
    case 5:
      check(photons::read_settings(problem));
      break;
    case 6:
      check(raytrace::read_settings(problem));
      break;
    default:
      check(tsp::read_settings(problem));
  }
  return 0;
}

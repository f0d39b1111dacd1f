// Processor seconds of a reconstruction in three stages, without network and disk, for tools/bench: "kernels
// T", then "tiles T" for turning blocks between the stages in memory. Argument: the plane's side.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>

#include "apps/hologram/stages.h"

namespace {

using namespace gleaner;
using namespace gleaner::hologram;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

using Blocks = std::map<std::string, Bytes>;

// Cuts an item into the blocks of the next stage.
void cut(const Layout& layout, int stage, std::int64_t item, const Bytes& bytes, Blocks& next) {
  const auto tile_bytes = static_cast<std::size_t>(layout.tile_pixels() * layout.pixel_bytes(stage));
  const Place place = layout.place(stage, item);
  for (std::int64_t tile = 0; tile < layout.tiles(stage); ++tile) {
    Bytes& block = next[block_name(stage + 1, layout.item(stage + 1, {place.view, tile}))];
    block.resize(static_cast<std::size_t>(layout.tiles(stage + 1)) * tile_bytes);
    bytes.copy(block.data() + static_cast<std::size_t>(place.block) * tile_bytes, tile_bytes,
               static_cast<std::size_t>(tile) * tile_bytes);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::int64_t side = count == 2 ? std::atoll(arguments[1]) : 4096;
  const auto directory =
      std::filesystem::temp_directory_path() / ("bench-hologram-" + std::to_string(std::rand()));
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "parameters.json") << R"({"synthetic": "gaussian", "output": "complex", "rows": )"
                                               << side << R"(, "columns": )" << side << "}";
  const auto task = open_task(kit::Problem(directory));
  std::filesystem::remove_all(directory);
  if (!task.ok()) {
    std::fprintf(stderr, "%s\n", task.error().message.c_str());
    return 1;
  }
  Blocks blocks;
  Stages stages(*task, [&](int stage, std::int64_t item) -> Result<Bytes> {
    return blocks.at(block_name(stage, item));
  });
  double kernels = 0;
  double tiles = 0;
  for (int stage = 0; stage < task->layout.stages(); ++stage) {
    Blocks next;
    for (std::int64_t item = 0; item < task->layout.items(stage); ++item) {
      kit::ItemContext quiet;
      const double before = processor_seconds();
      const auto bytes = stages.compute(stage, item, quiet);
      if (!bytes.ok()) return 1;
      const double between = processor_seconds();
      if (!task->layout.last(stage)) cut(task->layout, stage, item, *bytes, next);
      kernels += between - before;
      tiles += processor_seconds() - between;
    }
    blocks = std::move(next);
  }
  std::printf("kernels %.4f\ntiles %.4f\n", kernels, tiles);
}

#include "apps/hologram/tiles.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "apps/hologram/stages.h"

namespace gleaner::hologram {
namespace {

constexpr std::int64_t batch_bytes = 64 << 20;  // of items in memory: makes writes long

class BlockFile {
 public:
  BlockFile(std::filesystem::path path, int flags)
      : path_(std::move(path)), descriptor_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~BlockFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  BlockFile(const BlockFile&) = delete;
  BlockFile& operator=(const BlockFile&) = delete;

  Status resize(std::int64_t bytes) const {
    return descriptor_ >= 0 && ::ftruncate(descriptor_, bytes) == 0 ? Status{} : failure();
  }
  Status write(std::int64_t offset, std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written =
          descriptor_ < 0 ? -1 : ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return failure();
      bytes.remove_prefix(static_cast<std::size_t>(written));
      offset += written;
    }
    return {};
  }
  // A restart after a power cut must find what the stored state says is there.
  Status sync() const { return descriptor_ >= 0 && ::fsync(descriptor_) == 0 ? Status{} : failure(); }

 private:
  Status failure() const {
    return Error{ErrorKind::io, "cannot write " + path_.string() + ": " +
                                    std::generic_category().message(errno) + " (is the disk full?)"};
  }
  std::filesystem::path path_;
  int descriptor_;
};

// Items of one view with consecutive blocks.
struct Batch {
  std::size_t view = 0;
  std::int64_t first_block = 0;
  std::vector<Bytes> items;
};

class BlockWriter {
 public:
  BlockWriter(const Layout& layout, int stage, std::filesystem::path directory)
      : layout_(layout),
        stage_(stage),
        directory_(std::move(directory)),
        tile_bytes_(layout.tile_pixels() * layout.pixel_bytes(stage)) {}

  Status begin(std::string_view end) {
    const std::int64_t size = layout_.tiles(stage_ + 1) * tile_bytes_;
    return for_each_file([&](const std::filesystem::path& path) -> Status {
      const BlockFile file(path, O_WRONLY | O_CREAT | O_TRUNC);
      TRY(file.resize(size));
      return file.write(size, end);
    });
  }
  Status take(const Place& place, Bytes bytes) {
    const auto count = static_cast<std::int64_t>(batch_.items.size());
    const bool follows = batch_.view == place.view && place.block == batch_.first_block + count;
    if (count > 0 && (!follows || (count + 1) * layout_.item_bytes(stage_) > batch_bytes)) TRY(write_batch());
    if (batch_.items.empty()) {
      batch_.view = place.view;
      batch_.first_block = place.block;
    }
    batch_.items.push_back(std::move(bytes));
    return {};
  }
  // `synced` hears of each file.
  Status end(const std::function<void()>& synced) {
    TRY(write_batch());
    return for_each_file([&](const std::filesystem::path& path) -> Status {
      TRY(BlockFile(path, O_WRONLY).sync());
      synced();
      return {};
    });
  }

 private:
  [[nodiscard]] std::filesystem::path path(std::size_t view, std::int64_t block) const {
    return directory_ / block_name(stage_ + 1, layout_.item(stage_ + 1, {view, block}));
  }
  Status for_each_file(const std::function<Status(const std::filesystem::path&)>& use) const {
    for (std::size_t view = 0; view < layout_.views().size(); ++view) {
      for (std::int64_t block = 0; block < layout_.tiles(stage_); ++block) TRY(use(path(view, block)));
    }
    return {};
  }
  Status write_batch() {
    Bytes together;
    for (std::int64_t tile = 0; tile < layout_.tiles(stage_) && !batch_.items.empty(); ++tile) {
      together.clear();
      for (const Bytes& item : batch_.items)
        together.append(item, static_cast<std::size_t>(tile * tile_bytes_),
                        static_cast<std::size_t>(tile_bytes_));
      TRY(BlockFile(path(batch_.view, tile), O_WRONLY).write(batch_.first_block * tile_bytes_, together));
    }
    batch_.items.clear();
    return {};
  }

  const Layout& layout_;
  int stage_;
  std::filesystem::path directory_;
  std::int64_t tile_bytes_;
  Batch batch_;
};

}  // namespace

Status for_each_item(const Layout& layout, int stage, kit::ItemSource& items, const TakeItem& take) {
  for (;;) {
    TRY_ASSIGN(std::optional<kit::Item> item, items.next());
    if (!item) return {};
    if (static_cast<std::int64_t>(item->bytes.size()) != layout.item_bytes(stage))
      return Error{ErrorKind::invalid, "block " + std::to_string(item->index) + " has a wrong size"};
    const Place place = layout.place(stage, item->index);
    TRY(take(place, std::move(*item)));
  }
}

Status write_blocks(const Layout& layout, int stage, std::string_view end, kit::ItemSource& items,
                    kit::Output& output, double part, const SeeItem& see) {
  constexpr double writing = 0.7;  // the rest is waiting for the disk
  BlockWriter writer(layout, stage, output.directory());
  TRY(writer.begin(end));
  TRY(for_each_item(layout, stage, items, [&](Place place, kit::Item item) -> Status {
    if (see) see(item.index, item.bytes);
    TRY(writer.take(place, std::move(item.bytes)));
    output.progress(part * writing * items.fraction());
    return {};
  }));
  double synced = 0;
  const auto files = static_cast<double>(layout.views().size()) * static_cast<double>(layout.tiles(stage));
  return writer.end([&] { output.progress(part * (writing + (1 - writing) * ++synced / files)); });
}

std::vector<kit::StageInput> block_inputs(const Layout& layout, int stage,
                                          const std::filesystem::path& directory) {
  std::vector<kit::StageInput> inputs;
  for (std::int64_t item = 0; item < layout.items(stage); ++item) {
    const std::string name = block_name(stage, item);
    inputs.push_back({name, (directory / name).string(), Range{item, item + 1}});
  }
  return inputs;
}

void remove_blocks(const Layout& layout, int stage, const std::filesystem::path& directory) {
  std::error_code ignored;  // what stays only takes room until the problem is deleted
  const std::int64_t blocks = Layout::of_columns(stage) ? layout.column_blocks() : layout.row_blocks();
  for (std::int64_t item = 0; item < blocks * static_cast<std::int64_t>(layout.views().size()); ++item)
    std::filesystem::remove(directory / block_name(stage, item), ignored);
}

}  // namespace gleaner::hologram

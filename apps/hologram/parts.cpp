#include "apps/hologram/parts.h"

#include <algorithm>
#include <bit>
#include <fstream>

#include "apps/kit/packing.h"

namespace gleaner::hologram {
namespace {

constexpr std::int64_t parts_wanted = 512;  // half of the inputs that a stage may have
constexpr std::int64_t part_rows_min = 8;

std::string part_name(std::int64_t part) {
  return "hologram." + std::to_string(part);
}

class PartPixels final : public Pixels {
 public:
  PartPixels(kit::Problem problem, Parts parts) : problem_(std::move(problem)), parts_(std::move(parts)) {}
  [[nodiscard]] std::int64_t rows() const override { return parts_.image.rows; }
  [[nodiscard]] std::int64_t columns() const override { return parts_.image.columns; }
  [[nodiscard]] Status read_row(std::int64_t row, Range columns, Complex* to) override {
    CHECK_TRUE(row >= 0 && row < rows() && columns.begin >= 0 && columns.end <= this->columns());
    TRY(open(row / parts_.rows));
    const std::int64_t pixel = parts_.image.row_bytes() / parts_.image.columns;
    bytes_.resize(static_cast<std::size_t>(columns.size() * pixel));
    if (!file_.seekg(row % parts_.rows * parts_.image.row_bytes() + columns.begin * pixel)
             .read(bytes_.data(), static_cast<std::streamsize>(bytes_.size())))
      return Error{ErrorKind::io, "cannot read row " + std::to_string(row) + " of the hologram"};
    decode_pixels(parts_.image, bytes_.data(), columns.size(), to);
    return {};
  }

 private:
  Status open(std::int64_t part) {
    if (part == part_) return {};
    part_ = -1;
    TRY_ASSIGN(const std::filesystem::path path, problem_.input_path(part_name(part)));
    file_ = std::ifstream(path, std::ios::binary);
    if (!file_) return Error{ErrorKind::io, "cannot open " + path.string()};
    part_ = part;
    return {};
  }

  kit::Problem problem_;
  Parts parts_;
  std::int64_t part_ = -1;  // that `file_` is
  std::ifstream file_;
  std::vector<char> bytes_;
};

Status copy_rows(std::ifstream& from, const ImageLayout& image, Range rows, const std::filesystem::path& to) {
  std::ofstream out(to, std::ios::binary | std::ios::trunc);
  std::vector<char> row(static_cast<std::size_t>(image.row_bytes()));
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    if (!from.seekg(image.row_offset(i)).read(row.data(), static_cast<std::streamsize>(row.size())))
      return Error{ErrorKind::io, "cannot read row " + std::to_string(i) + " of the hologram"};
    out.write(row.data(), static_cast<std::streamsize>(row.size()));
  }
  out.close();
  if (!out) return Error{ErrorKind::io, "cannot write " + to.string() + " (is the disk full?)"};
  return {};
}

}  // namespace

Bytes encode(const Parts& parts) {
  Bytes bytes;
  kit::pack(bytes, static_cast<std::uint32_t>(parts.image.format));
  kit::pack(bytes, static_cast<std::uint32_t>(parts.image.big_endian));
  kit::pack(bytes, std::bit_cast<std::uint32_t>(parts.image.maximum));
  kit::pack(bytes, parts.image.rows);
  kit::pack(bytes, parts.image.columns);
  kit::pack(bytes, parts.rows);
  return bytes;
}

Result<Parts> decode_parts(std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  Parts parts;
  const auto format = unpacker.get<std::uint32_t>();
  parts.image.big_endian = unpacker.get<std::uint32_t>() != 0;
  parts.image.maximum = std::bit_cast<float>(unpacker.get<std::uint32_t>());
  parts.image.rows = unpacker.get<std::int64_t>();
  parts.image.columns = unpacker.get<std::int64_t>();
  parts.rows = unpacker.get<std::int64_t>();
  parts.image.format = static_cast<Format>(format);
  const auto side = [](std::int64_t length) { return length >= 1 && length <= side_max; };
  if (!unpacker.complete() || format < static_cast<std::uint32_t>(Format::u8) ||
      format > static_cast<std::uint32_t>(Format::c64) || !side(parts.image.rows) ||
      !side(parts.image.columns) || !side(parts.rows) ||
      !(parts.image.maximum >= 1 && parts.image.maximum <= 65535))
    return Error{ErrorKind::invalid, std::string("the input ") + parts_name + " is damaged"};
  return parts;
}

Range items_of_rows(const Layout& layout, std::int64_t image_rows, Range rows) {
  Range items{layout.items(0), 0};
  for (std::int64_t item = 0; item < layout.items(0); ++item) {
    const Place place = layout.place(0, item);
    const Range lines = layout.window_lines(place);
    const std::int64_t moved = place.block * layout.block_rows() +
                               layout.views()[place.view].aperture.row_shift + image_rows / 2 -
                               layout.rows() / 2;  // line of the block to row of the hologram
    if (!rows.overlaps({lines.begin + moved, lines.end + moved})) continue;
    items.begin = std::min(items.begin, item);
    items.end = item + 1;
  }
  return items.begin < items.end ? items : Range{0, 0};
}

Result<std::vector<kit::StageInput>> write_parts(const Settings& settings, const Layout& layout,
                                                 const std::filesystem::path& input,
                                                 const std::filesystem::path& directory) {
  TRY_ASSIGN(const ImageFile image, ImageFile::open(settings, input));
  std::ifstream file(input, std::ios::binary);
  Parts parts{image.layout(), 0};
  parts.rows = std::max(part_rows_min, (parts.image.rows + parts_wanted - 1) / parts_wanted);
  std::filesystem::create_directories(directory);
  const std::filesystem::path head = directory / parts_name;
  TRY(kit::write_file(head, encode(parts)));
  std::vector<kit::StageInput> inputs{{parts_name, head.string(), std::nullopt}};
  for (std::int64_t part = 0; part * parts.rows < parts.image.rows; ++part) {
    const Range rows{part * parts.rows, std::min(parts.image.rows, (part + 1) * parts.rows)};
    const Range items = items_of_rows(layout, parts.image.rows, rows);
    if (items.empty()) continue;
    const std::filesystem::path path = directory / part_name(part);
    TRY(copy_rows(file, parts.image, rows, path));
    inputs.push_back({part_name(part), path.string(), items});
  }
  return inputs;
}

Result<std::unique_ptr<Pixels>> open_parts(const kit::Problem& problem) {
  TRY_ASSIGN(const Bytes head, problem.read_input(parts_name, 1024));
  TRY_ASSIGN(Parts parts, decode_parts(head));
  return std::unique_ptr<Pixels>(new PartPixels(problem, std::move(parts)));
}

}  // namespace gleaner::hologram

#include "apps/hologram/image_file.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>

namespace gleaner::hologram {
namespace {

constexpr std::int64_t header_bytes_max = 4096;
constexpr float greatest_float = 1e9F;

Error invalid(const std::string& why) {
  return {ErrorKind::invalid, "the hologram: " + why};
}

std::int64_t pixel_bytes(Format format) {
  switch (format) {
    case Format::u8:
      return 1;
    case Format::u16:
      return 2;
    case Format::f32:
      return 4;
    case Format::c64:
      return 8;
    case Format::detect:
      break;
  }
  CHECK_TRUE(false);
  return 0;
}

Status check_sizes(const ImageLayout& layout) {
  if (layout.rows < 1 || layout.columns < 1 || layout.rows > side_max || layout.columns > side_max)
    return invalid("its sides must be from 1 to 65536 pixels, not " + std::to_string(layout.columns) + " x " +
                   std::to_string(layout.rows));
  return {};
}

// All pixels in one piece from `offset`.
Result<ImageLayout> one_strip(ImageLayout layout, std::int64_t offset, std::int64_t size) {
  TRY(check_sizes(layout));
  layout.strip_rows = layout.rows;
  layout.strips = {offset};
  const std::int64_t needed = offset + layout.rows * layout.row_bytes();
  if (size < needed)
    return invalid("the file has " + std::to_string(size) + " bytes, and " + std::to_string(needed) +
                   " are needed");
  return layout;
}

// ---- PGM: "P5", width, height and maximum in text, one white space, the pixels.

class PgmHeader {
 public:
  explicit PgmHeader(std::string_view bytes) : bytes_(bytes) {}
  // -1: there is none.
  std::int64_t number() {
    skip();
    std::int64_t value = -1;
    while (at_ < bytes_.size() && std::isdigit(static_cast<unsigned char>(bytes_[at_])) != 0) {
      value = std::max<std::int64_t>(value, 0) * 10 + (bytes_[at_++] - '0');
      if (value > 1'000'000) return -1;
    }
    return value;
  }
  // Behind the white space that ends the header; -1: there is none.
  std::int64_t end() {
    if (at_ >= bytes_.size() || std::isspace(static_cast<unsigned char>(bytes_[at_])) == 0) return -1;
    return static_cast<std::int64_t>(at_) + 1;
  }

 private:
  void skip() {
    while (at_ < bytes_.size()) {
      if (bytes_[at_] == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
      } else if (std::isspace(static_cast<unsigned char>(bytes_[at_])) != 0) {
        ++at_;
      } else {
        return;
      }
    }
  }
  std::string_view bytes_;
  std::size_t at_ = 2;
};

Result<ImageLayout> find_pgm(std::string_view head, std::int64_t size) {
  PgmHeader header(head);
  ImageLayout layout;
  layout.columns = header.number();
  layout.rows = header.number();
  const std::int64_t maximum = header.number();
  const std::int64_t offset = header.end();
  if (maximum < 1 || maximum > 65535 || offset < 0) return invalid("its PGM header is damaged");
  layout.format = maximum > 255 ? Format::u16 : Format::u8;
  layout.big_endian = true;
  layout.maximum = static_cast<float>(maximum);
  return one_strip(std::move(layout), offset, size);
}

// ---- TIFF 6.0: a table of 12-byte entries: tag, type, count, value or its place.

class Tiff {
 public:
  Tiff(std::int64_t size, const ReadAt& read, bool big_endian)
      : size_(size), read_(read), big_endian_(big_endian) {}

  Result<ImageLayout> find() {
    TRY_ASSIGN(const std::int64_t table, number(4, 4));
    TRY_ASSIGN(const std::int64_t entries, number(table, 2));
    for (std::int64_t i = 0; i < entries; ++i) TRY(take(table + 2 + 12 * i));
    if (compression_ != 1) return invalid("it is a compressed TIFF: save it without compression");
    if (samples_ != 1 || photometric_ != 1 || (bits_ != 8 && bits_ != 16) || sample_format_ != 1)
      return invalid("it is a TIFF of another kind: grey levels of 8 or 16 bits are needed, 0 for black");
    layout_.format = bits_ == 8 ? Format::u8 : Format::u16;
    layout_.big_endian = big_endian_;
    layout_.maximum = bits_ == 8 ? 255 : 65535;
    TRY(check_sizes(layout_));
    TRY(find_strips());
    return std::move(layout_);
  }

 private:
  Status take(std::int64_t entry) {
    TRY_ASSIGN(const std::int64_t tag, number(entry, 2));
    TRY_ASSIGN(const std::int64_t type, number(entry + 2, 2));
    TRY_ASSIGN(const std::int64_t count, number(entry + 4, 4));
    const std::int64_t width = type == 3 ? 2 : type == 4 ? 4 : 0;
    if (tag == 273) {
      strips_type_ = width;
      strips_count_ = count;
      strips_entry_ = entry;
      return {};
    }
    std::int64_t* const known = tag == 256   ? &layout_.columns
                                : tag == 257 ? &layout_.rows
                                : tag == 258 ? &bits_
                                : tag == 259 ? &compression_
                                : tag == 262 ? &photometric_
                                : tag == 277 ? &samples_
                                : tag == 278 ? &layout_.strip_rows
                                : tag == 339 ? &sample_format_
                                             : nullptr;
    if (known == nullptr || width == 0 || count != 1) return {};
    TRY_ASSIGN(*known, number(entry + 8, width));
    return {};
  }

  Status find_strips() {
    layout_.strip_rows = layout_.strip_rows <= 0 ? layout_.rows : std::min(layout_.strip_rows, layout_.rows);
    const std::int64_t strips = (layout_.rows + layout_.strip_rows - 1) / layout_.strip_rows;
    if (strips_type_ == 0 || strips_count_ != strips) return invalid("its TIFF strips do not fit its height");
    std::int64_t place = strips_entry_ + 8;
    if (strips * strips_type_ > 4) {
      TRY_ASSIGN(place, number(place, 4));
    }
    for (std::int64_t i = 0; i < strips; ++i) {
      TRY_ASSIGN(const std::int64_t offset, number(place + i * strips_type_, strips_type_));
      const std::int64_t rows = std::min(layout_.strip_rows, layout_.rows - i * layout_.strip_rows);
      if (offset + rows * layout_.row_bytes() > size_)
        return invalid("the TIFF file ends before its pixels do");
      layout_.strips.push_back(offset);
    }
    return {};
  }

  Result<std::int64_t> number(std::int64_t offset, std::int64_t width) {
    char bytes[4] = {};
    if (offset < 0 || offset + width > size_) return invalid("the TIFF file ends too early");
    TRY(read_(offset, bytes, width));
    std::int64_t value = 0;
    for (std::int64_t i = 0; i < width; ++i)
      value = value * 256 + static_cast<unsigned char>(bytes[big_endian_ ? i : width - 1 - i]);
    return value;
  }

  std::int64_t size_;
  const ReadAt& read_;
  bool big_endian_;
  ImageLayout layout_;
  std::int64_t bits_ = 1, compression_ = 1, photometric_ = -1, samples_ = 1, sample_format_ = 1;
  std::int64_t strips_type_ = 0, strips_count_ = 0, strips_entry_ = 0;
};

Result<ImageLayout> find_raw(const Settings& settings, std::int64_t size) {
  ImageLayout layout;
  layout.format = settings.format;
  layout.rows = settings.image_rows;
  layout.columns = settings.image_columns;
  layout.maximum = settings.format == Format::u8 ? 255 : settings.format == Format::u16 ? 65535 : 1;
  const std::int64_t expected = layout.rows * layout.row_bytes();
  if (size != expected)
    return invalid("the file has " + std::to_string(size) +
                   " bytes; with these sizes and this format it is " + std::to_string(expected));
  return one_strip(std::move(layout), 0, size);
}

// What is not finite, or so large that sums of it would not be, counts as 0.
float little_float(const char* bytes) {
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < 4; ++i)
    bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  const auto value = std::bit_cast<float>(bits);
  return std::abs(value) <= greatest_float ? value : 0;
}

}  // namespace

std::int64_t ImageLayout::row_bytes() const {
  return columns * pixel_bytes(format);
}

std::int64_t ImageLayout::row_offset(std::int64_t row) const {
  return strips[static_cast<std::size_t>(row / strip_rows)] + row % strip_rows * row_bytes();
}

void decode_pixels(const ImageLayout& layout, const char* from, std::int64_t count, Complex* to) {
  const std::int64_t width = pixel_bytes(layout.format);
  const char* at = from;
  for (std::int64_t i = 0; i < count; ++i, at += width) {
    switch (layout.format) {
      case Format::u8:
        to[i] = static_cast<float>(static_cast<unsigned char>(*at)) / layout.maximum;
        break;
      case Format::u16: {
        const unsigned first = static_cast<unsigned char>(at[0]);
        const unsigned second = static_cast<unsigned char>(at[1]);
        to[i] = static_cast<float>(layout.big_endian ? first * 256 + second : second * 256 + first) /
                layout.maximum;
        break;
      }
      case Format::f32:
        to[i] = little_float(at);
        break;
      case Format::c64:
        to[i] = {little_float(at), little_float(at + 4)};
        break;
      case Format::detect:
        CHECK_TRUE(false);
    }
  }
}

Result<ImageLayout> find_pixels(const Settings& settings, std::int64_t size, const ReadAt& read) {
  if (settings.format != Format::detect) return find_raw(settings, size);
  Bytes head(static_cast<std::size_t>(std::min(size, header_bytes_max)), '\0');
  TRY(read(0, head.data(), static_cast<std::int64_t>(head.size())));
  if (head.starts_with("P5")) return find_pgm(head, size);
  if (head.starts_with(std::string_view("II*\0", 4))) return Tiff(size, read, false).find();
  if (head.starts_with(std::string_view("MM\0*", 4))) return Tiff(size, read, true).find();
  return invalid("the input is neither a binary PGM nor a TIFF file; if it is raw numbers, give `format`");
}

Result<ImageFile> ImageFile::open(const Settings& settings, const std::filesystem::path& path) {
  ImageFile image;
  image.file_ = std::ifstream(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::int64_t>(image.file_.tellg());
  if (!image.file_ || size < 0) return Error{ErrorKind::io, "cannot open " + path.string()};
  const ReadAt read = [&](std::int64_t offset, char* to, std::int64_t count) -> Status {
    if (image.file_.seekg(offset).read(to, count)) return {};
    return Error{ErrorKind::io, "cannot read " + path.string()};
  };
  TRY_ASSIGN(image.layout_, find_pixels(settings, size, read));
  return image;
}

Status ImageFile::read_row(std::int64_t row, Range columns, Complex* to) {
  CHECK_TRUE(row >= 0 && row < layout_.rows && columns.begin >= 0 && columns.end <= layout_.columns);
  const std::int64_t width = pixel_bytes(layout_.format);
  bytes_.resize(static_cast<std::size_t>(columns.size() * width));
  if (!file_.seekg(layout_.row_offset(row) + columns.begin * width)
           .read(bytes_.data(), static_cast<std::streamsize>(bytes_.size())))
    return Error{ErrorKind::io, "cannot read row " + std::to_string(row) + " of the hologram"};
  decode_pixels(layout_, bytes_.data(), columns.size(), to);
  return {};
}

}  // namespace gleaner::hologram

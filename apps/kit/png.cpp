#include "apps/kit/png.h"

#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>

#include "shared/base/check.h"
#include "shared/base/paths.h"

namespace gleaner::kit {

// libpng reports errors by longjmp: the functions that call it hold nothing with a destructor.
struct PngWriter::State {
  std::FILE* file = nullptr;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::int64_t width = 0;
  std::int64_t rows_left = 0;
  char message[200] = {};

  ~State() {
    if (png) png_destroy_write_struct(&png, &info);
    if (file) std::fclose(file);
  }
  static void fail(png_structp png, png_const_charp text) {
    auto* state = static_cast<State*>(png_get_error_ptr(png));
    std::strncpy(state->message, text, sizeof state->message - 1);
    png_longjmp(png, 1);
  }
  static void warn(png_structp /*png*/, png_const_charp text) { std::fprintf(stderr, "png: %s\n", text); }

  bool begin(std::int64_t height) {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, &State::fail, &State::warn);
    if (!png) return false;
    info = png_create_info_struct(png);
    if (!info) return false;
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_user_limits(png, 1 << 20, 1 << 20);
    png_init_io(png, file);
    png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    return true;
  }
  bool row(const char* rgb) {
    if (setjmp(png_jmpbuf(png))) return false;
    png_write_row(png, reinterpret_cast<png_const_bytep>(rgb));
    return true;
  }
  bool end() {
    if (setjmp(png_jmpbuf(png))) return false;
    png_write_end(png, nullptr);
    return true;
  }
  [[nodiscard]] Error error() const {
    return {ErrorKind::io, std::string("cannot write the picture (is the disk full?): ") + message};
  }
};

PngWriter::PngWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
PngWriter::PngWriter(PngWriter&&) noexcept = default;
PngWriter& PngWriter::operator=(PngWriter&&) noexcept = default;
PngWriter::~PngWriter() = default;

Result<PngWriter> PngWriter::create(const std::filesystem::path& path, std::int64_t width,
                                    std::int64_t height) {
  CHECK_TRUE(width >= 1 && height >= 1 && width <= 1 << 20 && height <= 1 << 20);
  auto state = std::make_unique<State>();
  state->width = width;
  state->rows_left = height;
  state->file = std::fopen(path.c_str(), "wb");
  if (!state->file)
    return Error{ErrorKind::io, "cannot create " + utf8_text(path) + ": " + std::strerror(errno)};
  if (!state->begin(height)) return state->error();
  return PngWriter(std::move(state));
}

Status PngWriter::write_row(std::string_view rgb) {
  CHECK_TRUE(rgb.size() == 3 * static_cast<std::size_t>(state_->width) && state_->rows_left > 0);
  --state_->rows_left;
  if (!state_->row(rgb.data())) return state_->error();
  return {};
}

Status PngWriter::finish() {
  CHECK_TRUE(state_->rows_left == 0);
  const bool ended = state_->end();
  std::FILE* file = std::exchange(state_->file, nullptr);
  if (std::fclose(file) != 0 || !ended) return state_->error();
  return {};
}

}  // namespace gleaner::kit

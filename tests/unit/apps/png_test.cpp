#include "apps/kit/png.h"

#include <png.h>

#include "tests/catch.h"
#include "tests/unit/apps/peer.h"

namespace gleaner::kit {

TEST_CASE("A picture written row by row is read back as it was") {
  test::TemporaryDirectory directory;
  const auto path = directory.path() / "image.png";
  std::string all;
  {
    auto writer = PngWriter::create(path, 5, 3);
    REQUIRE(writer.ok());
    for (int row = 0; row < 3; ++row) {
      std::string rgb;
      for (int i = 0; i < 15; ++i) rgb.push_back(static_cast<char>(17 * i + 83 * row));
      REQUIRE(writer->write_row(rgb).ok());
      all += rgb;
    }
    REQUIRE(writer->finish().ok());
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_file(&image, path.c_str()) != 0);
  CHECK(image.width == 5);
  CHECK(image.height == 3);
  image.format = PNG_FORMAT_RGB;
  std::string read(PNG_IMAGE_SIZE(image), '\0');
  REQUIRE(png_image_finish_read(&image, nullptr, read.data(), 0, nullptr) != 0);
  CHECK(read == all);
}

TEST_CASE("A picture that cannot be written is an error, not a crash") {
  CHECK_FALSE(PngWriter::create("/nonexistent/image.png", 5, 3).ok());
  auto writer = PngWriter::create("/dev/full", 2000, 2000);
  if (!writer.ok()) return;  // the header alone did not fit
  Status status;
  const std::string row(6000, 'a');
  for (int i = 0; i < 2000 && status.ok(); ++i) status = writer->write_row(row);
  if (status.ok()) status = writer->finish();
  REQUIRE(!status.ok());
  CHECK(status.error().kind == ErrorKind::io);
}

}  // namespace gleaner::kit

// Files of holograms, parameters, and the programs: what every application must have.
#include <string>
#include <vector>

#include "apps/hologram/image_file.h"
#include "apps/hologram/parts.h"
#include "apps/hologram/source.h"
#include "apps/hologram/stages.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/apps/application.h"

namespace gleaner::hologram {
namespace {

using test::Application;
using test::Files;

std::string pgm(std::int64_t rows, std::int64_t columns, int maximum, const std::string& pixels) {
  return "P5\n# a comment\n" + std::to_string(columns) + " " + std::to_string(rows) + "\n" +
         std::to_string(maximum) + "\n" + pixels;
}

std::string little(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return text;
}

// Two strips: two rows, then one.
std::string tiff(int bits) {
  const auto pixel = static_cast<std::uint32_t>(bits / 8);
  const std::uint32_t strips = 8;
  const std::uint32_t first = 16;
  const std::uint32_t second = first + 2 * 2 * pixel;
  const std::uint32_t table = second + 2 * pixel;
  std::string file = "II" + little(42, 2) + little(table, 4) + little(first, 4) + little(second, 4);
  for (std::uint32_t i = 1; i <= 6; ++i) file += little(i * (bits == 8 ? 10 : 3000), bits / 8);
  const auto entry = [](std::uint32_t tag, std::uint32_t type, std::uint32_t count, std::uint32_t value) {
    return little(tag, 2) + little(type, 2) + little(count, 4) + little(value, 4);
  };
  file += little(8, 2) + entry(256, 3, 1, 2) + entry(257, 3, 1, 3) +
          entry(258, 3, 1, static_cast<std::uint32_t>(bits)) + entry(259, 3, 1, 1) + entry(262, 3, 1, 1) +
          entry(273, 4, 2, strips) + entry(277, 3, 1, 1) + entry(278, 3, 1, 2);
  return file;
}

std::vector<float> pixels_of(const std::string& file, const std::string& parameters = "{}") {
  const test::TemporaryDirectory directory;
  const kit::Problem problem(directory.problem(parameters, {{"hologram", file}}));
  auto pixels = open_pixels(problem, *read_settings(problem));
  INFO((pixels.ok() ? "" : pixels.error().message));
  REQUIRE(pixels.ok());
  std::vector<float> values;
  std::vector<Complex> row(static_cast<std::size_t>((*pixels)->columns()));
  for (std::int64_t i = 0; i < (*pixels)->rows(); ++i) {
    REQUIRE((*pixels)->read_row(i, {0, (*pixels)->columns()}, row.data()).ok());
    for (const Complex value : row) values.push_back(value.real());
  }
  return values;
}

TEST_CASE("holograms are read from PGM, TIFF and raw files") {
  CHECK(pixels_of(pgm(2, 2, 200, std::string("\0\x64\xc8\x32", 4))) == std::vector<float>{0, 0.5F, 1, 0.25F});
  CHECK(pixels_of(pgm(1, 2, 1000, std::string("\x01\xf4\x03\xe8", 4))) == std::vector<float>{0.5F, 1});
  std::vector<float> eight, sixteen;
  for (int i = 1; i <= 6; ++i) {
    eight.push_back(static_cast<float>(i * 10) / 255);
    sixteen.push_back(static_cast<float>(i * 3000) / 65535);
  }
  CHECK(pixels_of(tiff(8)) == eight);
  CHECK(pixels_of(tiff(16)) == sixteen);
  CHECK(pixels_of(std::string("\0\0\x80\x3f\0\0\0\xc0", 8),
                  R"({"format": "f32", "image_rows": 2, "image_columns": 1})") == std::vector<float>{1, -2});
}

TEST_CASE("each wrong parameter and input is named") {
  const auto complaint = [](const std::string& parameters, const Files& inputs = {}) {
    return test::complaint("hologram", parameters, inputs);
  };
  CHECK_THAT(complaint("{}"), Catch::Contains("the input `hologram`"));
  CHECK_THAT(
      complaint(R"({"distance_millimetres": 0, "wavelength_nanometres": 0, "method": "x", "rows": 100})"),
      Catch::Contains("distance_millimetres: must not be 0") &&
          Catch::Contains("wavelength_nanometres: must be a number") &&
          Catch::Contains("method: must be one of") && Catch::Contains("rows: must be a power of two"));
  CHECK_THAT(complaint(R"({"apertures": "1,2,3"})"), Catch::Contains("apertures: must be groups of four"));
  CHECK_THAT(complaint(R"({"apertures": "0,0,0,5"})"), Catch::Contains("sizes from 1"));
  CHECK_THAT(complaint(R"({"synthetic": "points", "apertures": "400,0,9,9"})"),
             Catch::Contains("sees nothing"));
  CHECK_THAT(complaint(R"({"format": "u8"})"), Catch::Contains("image_rows: a raw input"));
  CHECK_THAT(complaint("{}", {{"hologram", "GIF89a"}}), Catch::Contains("neither a binary PGM nor a TIFF"));
  CHECK_THAT(complaint("{}", {{"hologram", pgm(9, 9, 255, "few")}}), Catch::Contains("are needed"));
  CHECK_THAT(complaint(R"({"rows": 64})", {{"hologram", pgm(65, 1, 255, std::string(65, 'x'))}}),
             Catch::Contains("give at least 128"));
  for (std::size_t cut = 4; cut < tiff(8).size(); cut += 7)
    CHECK_THAT(complaint("{}", {{"hologram", tiff(8).substr(0, cut)}}), Catch::StartsWith("error "));
}

std::string noise(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  Random random(seed);
  std::string pixels;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    pixels.push_back(static_cast<char>(random.between(0, 255)));
  return pgm(rows, columns, 255, pixels);
}

TEST_CASE("kernels get the parts of the hologram that their blocks need") {
  const auto planned = [](const std::string& parameters, std::int64_t rows, std::int64_t columns) {
    Application application("hologram", parameters, {{"hologram", noise(rows, columns, 35)}});
    std::map<std::string, Range> parts;
    std::istringstream lines(application.plan(0));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word, name, path;
      Range items{0, application.items()};
      words >> word >> name >> path >> items.begin >> items.end;
      if (word == "input") parts[name] = items;
    }
    return parts;
  };
  // 100 rows in the middle of 128: the first of its parts of 8 rows is in blocks of 8 rows from row 14 on.
  const auto whole = planned("{}", 100, 64);
  CHECK(whole.size() == 1 + 13);
  CHECK(whole.at("hologram.0") == Range{0, 2});
  CHECK(whole.at("hologram.1") == Range{1, 3});
  CHECK(whole.at("hologram.12") == Range{12, 14});
  // A window of 10 rows around the centre needs three parts at most.
  const auto window = planned(R"({"apertures": "0,0,10,64"})", 100, 64);
  CHECK((window.size() > 1 && window.size() <= 1 + 3));
  CHECK(window.contains("hologram.6"));
}

TEST_CASE("how parts are to be read") {
  Parts parts;
  parts.image.format = Format::u16;
  parts.image.big_endian = true;
  parts.image.maximum = 4095;
  parts.image.rows = 300;
  parts.image.columns = 65536;
  parts.rows = 8;
  const Bytes bytes = encode(parts);
  const auto decoded = decode_parts(bytes);
  REQUIRE(decoded.ok());
  CHECK(encode(*decoded) == bytes);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) CHECK_FALSE(decode_parts(bytes.substr(0, cut)).ok());
  CHECK_FALSE(decode_parts(bytes + "x").ok());
  for (const std::size_t place : {std::size_t{3}, std::size_t{11}, bytes.size() - 4})
    CHECK_FALSE(decode_parts(Bytes(bytes).replace(place, 1, "\x7f")).ok());
}

TEST_CASE("a kernel of a later stage knows the hologram's size from its blocks") {
  test::TemporaryDirectory directory;
  const kit::Problem problem(directory.problem("{}", {{"columns-3", "pixels" + block_end(100, 64)}}));
  const auto task = open_task(problem);
  REQUIRE(task.ok());
  CHECK((task->layout.rows() == 128 && task->layout.columns() == 64));
  Complex pixel;
  CHECK_FALSE(task->pixels->read_row(0, {0, 1}, &pixel).ok());
  test::TemporaryDirectory odd;
  CHECK_FALSE(open_task(kit::Problem(odd.problem("{}", {{"columns-3", "pixel"}}))).ok());
  test::TemporaryDirectory block;
  const auto path = block.path() / "columns-0";
  REQUIRE(kit::write_file(path, "12345678" + block_end(1, 1)).ok());
  CHECK(*read_block_file(path, 8) == "12345678");
  CHECK_FALSE(read_block_file(path, 7).ok());
  CHECK_FALSE(read_block_file(path, 9).ok());
}

TEST_CASE("hologram: properties of every application") {
  test::check_properties(
      {"hologram",
       R"({"apertures": "10,0,50,64; -10,3,20,20", "distance_millimetres": -5, "raw": true})",
       {{"hologram", noise(100, 64, 30)}},
       31});
  test::check_properties(
      {"hologram",
       R"({"method": "direct", "distance_millimetres": 90, "output": "complex", "raw": true})",
       {{"hologram", noise(50, 100, 32)}},
       33});
}

TEST_CASE("a result that is wrong in one row is refused") {
  Application application("hologram", R"({"synthetic": "points", "rows": 64, "columns": 64})");
  application.plan(0);
  auto items = application.compute({0, application.items()});
  // One of sixteen segments is looked at as a whole instead.
  const auto whole = Catch::Contains("computed again, it is different");
  for (char& byte : items.at(2)) byte = static_cast<char>(byte ^ 1);
  CHECK_THAT(application.validate({2, 3}, items), Catch::StartsWith("invalid block 2: "));
  items.at(3).replace(0, 4, std::string("\0\0\x80\x7f", 4));  // infinity
  CHECK_THAT(application.validate({3, 4}, items), Catch::Contains("not finite") || whole);
  Application windowed("hologram", R"({"apertures": "0,0,12,64"})", {{"hologram", noise(64, 64, 34)}});
  windowed.plan(0);
  items = windowed.compute({0, windowed.items()});
  CHECK(windowed.validate({0, 2}, items) == "valid");
  items.at(0)[3] = 1;  // of a row outside the window
  CHECK_THAT(windowed.validate({0, 1}, items), Catch::Contains("not zero") || whole);
}

}  // namespace
}  // namespace gleaner::hologram

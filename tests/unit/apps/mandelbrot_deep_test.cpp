// Views below double precision, against plain iteration with as many bits as it takes.
#include <gmpxx.h>

#include "apps/mandelbrot/deep.h"
#include "apps/mandelbrot/reference_orbit.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/apps/application.h"

namespace gleaner::mandelbrot {
namespace {

// c^3 + 2 c^2 + 2 c + 2 = 0: a point whose orbit ends in a repelling fixed point, so that the set is a spiral
// around it at every depth.
const std::string misiurewicz =
    "-1."
    "54368901269207636157085597180174798652520329765098393524080403783116867392797386648515791457605912546212"
    "082922"
    "63670601892787564633221410115229092189052927229927816971575829504221700895185634107003852001280002823664"
    "7726177998"
    "69089968841046149769770270868479696119789201814461289913485855921453095241534826645957341170521221764343"
    "8932626354"
    "339393763786159632199124677890954180627498727565731479";

Settings view(const std::string& x, const std::string& y, const std::string& view_width,
              std::int64_t iterations, std::int64_t side = 9) {
  test::TemporaryDirectory directory;
  const auto settings = read_settings(kit::Problem(
      directory.problem(R"({"centre_x": ")" + x + R"(", "centre_y": ")" + y + R"(", "view_width": ")" +
                        view_width + R"(", "width": )" + std::to_string(side) + R"(, "height": )" +
                        std::to_string(side) + R"(, "iterations": )" + std::to_string(iterations) + "}")));
  REQUIRE(settings.ok());
  return *settings;
}

mpz_class fixed_point(const std::string& text, unsigned bits) {
  // By GMP's own reader of decimal fractions, with bits to spare.
  const mpf_class number(text, bits + 200);
  mpf_class scaled(0, bits + 2000);
  mpf_mul_2exp(scaled.get_mpf_t(), number.get_mpf_t(), bits);
  return mpz_class(scaled);
}

// z <- z^2 + c with integers of `bits` bits after the point.
std::int64_t plain_count(const mpz_class& x, const mpz_class& y, unsigned bits, std::int64_t iterations) {
  mpz_class re = 0, im = 0;
  const mpz_class four = mpz_class(4) << (2 * bits);
  for (std::int64_t count = 0; count < iterations; ++count) {
    const mpz_class product = re * im;
    re = ((re * re - im * im) >> bits) + x;
    im = (product >> (bits - 1)) + y;
    if (re * re + im * im > four) return count;
  }
  return iterations;
}

// All pixels of a small picture; gives how many different counts there are. At most `different_max` may
// differ from plain iteration: points so near to the set that the last bit decides.
std::size_t check_counts(const Settings& settings, const std::string& x, const std::string& y,
                         const std::string& view_width, unsigned bits, int different_max = 0) {
  INFO(x << " + i " << y << ", " << view_width << " wide");
  const auto orbit = compute_reference(settings);
  REQUIRE(orbit.ok());
  const mpz_class step = fixed_point(view_width, bits) / (2 * settings.width);
  const mpz_class centre_x = fixed_point(x, bits), centre_y = fixed_point(y, bits);
  std::map<std::int64_t, int> counts;
  int different = 0;
  kit::ItemContext quiet;
  for (std::int64_t row = 0; row < settings.height; ++row) {
    const std::vector<Escape> escapes = decode_row(compute_deep_row(settings, *orbit, row, quiet));
    for (std::int64_t column = 0; column < settings.width; ++column) {
      const std::int64_t expected =
          plain_count(centre_x + step * (2 * column + 1 - settings.width),
                      centre_y + step * (settings.height - 2 * row - 1), bits, settings.iterations);
      different += escapes[static_cast<std::size_t>(column)].count != expected;
      ++counts[expected];
    }
  }
  CHECK(different <= different_max);
  return counts.size();
}

std::size_t check_deep_counts(const std::string& x, const std::string& y, const std::string& view_width,
                              unsigned bits, std::int64_t iterations) {
  const Settings settings = view(x, y, view_width, iterations);
  REQUIRE(settings.deep);
  return check_counts(settings, x, y, view_width, bits);
}

}  // namespace

TEST_CASE("Deep views have the counts of plain iteration with many digits", "[mandelbrot]") {
  const std::string third = "3.3e-31";
  const std::string near_i = "1.0000000000000000000000000000004200001";
  CHECK(check_deep_counts(third, near_i, "1e-30", 300, 2000) > 5);
  CHECK(check_deep_counts(misiurewicz, "0", "7.5e-30", 300, 2000) > 5);
  CHECK(check_deep_counts(misiurewicz, "0", "1e-100", 600, 2000) > 5);
  CHECK(check_deep_counts("0", "1", "2e-100", 600, 2000) > 5);
  CHECK(check_deep_counts(misiurewicz, "2e-101", "4e-100", 600, 445) > 1);  // some are not out when it ends
  CHECK(check_deep_counts("0", "1", "1e-200", 1000, 1000) > 3);  // differences that doubles do not square
  CHECK(check_deep_counts("0", "1", "1e-400", 1800, 2000) > 5);  // nor hold
}

TEST_CASE("Every variant gives the same deep rows, at any width and depth", "[mandelbrot]") {
  for (const char* view_width : {"1e-30", "3e-140", "1e-200"}) {
    for (const std::int64_t side : {1, 3, 33, 70}) {
      Settings settings = view(misiurewicz, "1e-140", view_width, 1500, side);
      settings.height = 5;
      const auto orbit = compute_reference(settings);
      REQUIRE(orbit.ok());
      kit::ItemContext quiet;
      for (std::int64_t row = 0; row < 5; ++row) {
        const Bytes expected = compute_deep_row(settings, *orbit, row, quiet, kit::CpuLevel::baseline);
        for (const kit::CpuLevel level : kit::cpu_levels()) {
          INFO(view_width << " width " << side << " " << kit::name_of(level));
          REQUIRE(compute_deep_row(settings, *orbit, row, quiet, level) == expected);
        }
      }
    }
  }
}

TEST_CASE("A deep orbit that comes next to 0 keeps its digits", "[mandelbrot]") {
  // Next to the centre of the part with period three: c^3 + 2 c^2 + c + 1 = 0.
  mpf_class c("-1.7548776662466927600495088963585286918946066177727931439892839706", 3000);
  for (int i = 0; i < 6; ++i) c -= (c * c * c + 2 * c * c + c + 1) / (3 * c * c + 4 * c + 1);
  mp_exp_t exponent = 0;
  const std::string digits = c.get_str(exponent, 10, 210);
  const std::string nucleus = "-1." + digits.substr(2);
  REQUIRE(exponent == 1);
  const Settings settings = view(nucleus, "0", "1e-200", 300, 5);
  const auto orbit = compute_reference(settings);
  REQUIRE(orbit.ok());
  CHECK(orbit->tiny.size() == 100);
  CHECK(deep_escape(settings, *orbit, 2, 2, 300).count == 300);
  CHECK(deep_escape(settings, *orbit, 0, 4, 300).count == 300);
}

TEST_CASE("Among points of all kinds, too, deep views have the counts of plain iteration", "[mandelbrot]") {
  // Where doubles would do, so that orbits come back near 0 again and again in few iterations.
  const std::string x = "-0.743643887037151", y = "0.13182590420533";
  const Settings settings = view(x, y, "1e-9", 3000, 24);
  CHECK_FALSE(settings.deep);
  CHECK(check_counts(settings, x, y, "1e-9", 200, 3) > 50);
  CHECK(view(x, y, "1e-12", 3000, 24).deep);
  CHECK(check_deep_counts(x, y, "1e-14", 200, 5000) > 10);
}

TEST_CASE("Deep rows keep their bytes: the same on every machine", "[mandelbrot]") {
  const Settings settings = view(misiurewicz, "0", "1e-120", 3000, 16);
  const auto orbit = compute_reference(settings);
  REQUIRE(orbit.ok());
  std::string all = encode(*orbit);
  const auto again = decode_reference(all);
  REQUIRE(again.ok());
  CHECK(encode(*again) == all);
  kit::ItemContext quiet;
  for (std::int64_t row = 0; row < 16; ++row) all += compute_deep_row(settings, *again, row, quiet);
  CHECK(test::digest(all) == 0xb2605d1119f184f0);
}

TEST_CASE("A deep picture through the contract", "[mandelbrot]") {
  test::check_properties({"mandelbrot",
                          R"({"centre_x": ")" + misiurewicz.substr(0, 130) +
                              R"(", "centre_y": 0, "view_width": "1e-100", "width": 40, "height": 30})",
                          {},
                          5});
}

TEST_CASE("Deep views' parameters are checked with messages", "[mandelbrot]") {
  const auto answer = [](const std::string& parameters) { return test::complaint("mandelbrot", parameters); };
  CHECK(answer(R"({"centre_x": -0.5, "centre_y": "0", "view_width": "3"})") == "ok");
  CHECK(answer(R"({"centre_x": -0.5, "centre_y": 0})").find("view_width: must be given") !=
        std::string::npos);
  CHECK(
      answer(R"({"centre_x": "a", "centre_y": "0", "view_width": "1"})").find("centre_x: must be a number") !=
      std::string::npos);
  CHECK(answer(R"({"centre_x": 0, "centre_y": "0", "view_width": "1e-3001"})") ==
        "error view_width: must be above 1e-3000");
  CHECK(answer(R"({"centre_x": 0, "centre_y": "0", "view_width": "1", "x_min": 1})")
            .find("x_min: give either") != std::string::npos);
  CHECK(
      answer(R"({"centre_x": 1, "centre_y": "0", "view_width": "1e-30", "iterations": 3000000, "width": 10})")
          .find("iterations: at most 2000000") != std::string::npos);
}

TEST_CASE("Decimals are read with all their digits", "[mandelbrot]") {
  const auto same = [](std::string_view text, bool negative, const std::string& digits,
                       std::int64_t exponent) {
    const auto number = parse_decimal(text);
    INFO(text);
    REQUIRE(number);
    CHECK(number->negative == negative);
    CHECK(number->digits == digits);
    CHECK(number->exponent == exponent);
  };
  same("0", false, "", 0);
  same("-0.000e5", false, "", 0);
  same("-1.250e-3", true, "125", -5);
  same("+700", false, "7", 2);
  same(".5E+1", false, "5", 0);
  same("1e-3000", false, "1", -3000);
  for (const char* wrong : {"", "-", ".", "e5", "1e", "1e+", "1e+-5", "1e--5", "1.2.3", "0x1", " 1", "1 ",
                            "inf", "1e99999", "1e99999999999999999999"})
    CHECK_FALSE(parse_decimal(wrong));
  CHECK_FALSE(parse_decimal(std::string(5000, '1')));
  CHECK(parse_decimal("-1.25e-3")->approximate() == -1.25e-3);
  CHECK(parse_decimal("1e-5000")->approximate() == 0);
}

}  // namespace gleaner::mandelbrot

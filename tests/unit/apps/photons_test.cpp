// Light transport: the generator's published vectors, solved cases of the literature, a plain scalar program
// of its own (apps/photons/reference.h), and exact agreement of every variant and partition.
#include <cmath>
#include <numeric>

#include "apps/photons/outcome.h"
#include "apps/photons/philox.h"
#include "apps/photons/reference.h"
#include "apps/photons/sums.h"
#include "shared/base/random.h"
#include "tests/catch.h"
#include "tests/unit/apps/application.h"

namespace gleaner::photons {
namespace {

Settings settings_of(const std::string& parameters) {
  test::TemporaryDirectory directory;
  auto settings = read_settings(kit::Problem(directory.problem(parameters)));
  INFO(parameters);
  REQUIRE(settings.ok());
  return std::move(settings).value();
}

std::string with_layers(const std::string& layers, const std::string& more) {
  return R"({"layers": ")" + layers + R"(", )" + more + "}";
}

Sums computed(const Settings& settings) {
  Sums sums(settings);
  kit::ItemContext quiet;
  for (std::int64_t item = 0; item < settings.items(); ++item)
    sums.add(item, compute_item(settings, item, quiet));
  return sums;
}

void check_near(const Estimate& estimate, double exact, double sigmas = 4) {
  INFO(estimate.value << " +- " << estimate.error << ", exact " << exact);
  CHECK(std::abs(estimate.value - exact) <= sigmas * estimate.error + 1e-9);
}

const std::string clear_layers =
    "above 1; layer glass 1.5 0 0 0 0.05; layer milk 1.35 0.5 60 0.8 0.1; layer water 1.33 0.02 0 0 0.1;"
    "layer fat 1.45 0.3 120 0.9 0.2; below 1";

}  // namespace

TEST_CASE("Philox gives the published vectors", "[photons]") {
  // Random123's known answers for philox4x32-10.
  const auto check = [](const PhiloxBlock& counter, const std::uint32_t(&key)[2],
                        const PhiloxBlock& expected) {
    const PhiloxBlock block = philox(counter, key);
    for (int i = 0; i < 4; ++i) CHECK(block.word[i] == expected.word[i]);
  };
  check({{0, 0, 0, 0}}, {0, 0}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  check({{~0U, ~0U, ~0U, ~0U}}, {~0U, ~0U}, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  check({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {0xa4093822, 0x299f31d0},
        {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST_CASE("Cases that other methods have solved come out within four standard deviations", "[photons]") {
  SECTION("a slab: van de Hulst 1980") {
    const Sums sums = computed(settings_of(R"({"tissue": "slab"})"));
    CHECK(std::abs(sums.reflected().value - 0.09739) < 0.0012);
    CHECK(std::abs(sums.transmitted().value - 0.66096) < 0.0018);
    check_near(sums.reflected(), 0.09739);
    check_near(sums.transmitted(), 0.66096);
    CHECK(sums.reflected().error < 0.0005);
  }
  SECTION("a half space under a border: Giovanelli 1955, with what entry reflects") {
    const Sums sums = computed(settings_of(R"({"tissue": "half-space", "photons": 400000})"));
    CHECK(make_model(sums.settings()).specular == Approx(0.04));
    check_near(sums.reflected(), 0.2600 - 0.04);
    CHECK(sums.transmitted().value == 0);
  }
  SECTION("absorption alone") {
    const Sums sums = computed(settings_of(with_layers("layer ink 1 10 0 0 0.1", R"("photons": 400000)")));
    check_near(sums.transmitted(), std::exp(-1.0));
    CHECK(sums.reflected().value == 0);
    // Each photon is a coin: the error is known.
    CHECK(sums.transmitted().error ==
          Approx(std::sqrt(std::exp(-1.0) * (1 - std::exp(-1.0)) / 400000)).epsilon(0.02));
  }
  SECTION("absorption between two borders that reflect") {
    const Sums sums = computed(settings_of(with_layers("layer ink 1.5 10 0 0 0.1", R"("photons": 1000000)")));
    const double a = std::exp(-1.0), r = 0.04;
    check_near(sums.transmitted(), (1 - r) * (1 - r) * a / (1 - r * r * a * a));
    check_near(sums.reflected(), r * (1 - r) * (1 - r) * a * a / (1 - r * r * a * a));
  }
  SECTION("two half layers are one layer") {
    const Sums one = computed(settings_of(with_layers("layer a 1.4 1 90 0.8 0.05", R"("photons": 300000)")));
    const Sums two = computed(settings_of(with_layers(
        "layer a 1.4 1 90 0.8 0.025; layer b 1.4 1 90 0.8 0.025", R"("photons": 300000, "seed": 2)")));
    CHECK(std::abs(one.reflected().value - two.reflected().value) < 4 * 1.42 * one.reflected().error);
    CHECK(std::abs(one.transmitted().value - two.transmitted().value) < 4 * 1.42 * one.transmitted().error);
  }
}

TEST_CASE("A plain scalar program has the same answers", "[photons]") {
  const std::int64_t photons = 40'000;
  const Settings settings =
      settings_of(with_layers(clear_layers, R"("photons": 40000, "item_photons": 800, "radial_step": 0.01,
          "detector_radius": 0.3, "detector_half_width": 0.05, "detector_angle": 60)"));
  const Sums sums = computed(settings);
  const ReferenceResult reference = reference_walk(settings, photons, 7);
  const double both = 4 * 1.42;
  CHECK(std::abs(sums.reflected().value - reference.reflected) < both * sums.reflected().error);
  CHECK(std::abs(sums.transmitted().value - reference.transmitted) < both * sums.transmitted().error);
  CHECK(std::abs(sums.absorbed().value - reference.absorbed) < both * sums.absorbed().error);
  CHECK(std::abs(sums.detected().value - reference.detected) < both * sums.detected().error);
  double path = 0;
  double path_error = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    const Estimate layer = sums.of(sums.layout().paths + i);
    path += layer.value / weight_unit * path_unit;
    path_error += layer.error / weight_unit * path_unit;
  }
  CHECK(path_error < 0.1 * path);
  CHECK(std::abs(path - reference.path) < both * path_error);
  // The same absorption over the depth, by bands of ten cells.
  for (std::int64_t band = 0; band < 10; ++band) {
    double ours = 0, theirs = 0, error = 0;
    for (std::int64_t r = 0; r < settings.radial_cells; ++r) {
      for (std::int64_t z = 10 * band; z < 10 * band + 10; ++z) {
        const Estimate cell = sums.of(sums.layout().absorbed + r * (settings.depth_cells + 1) + z);
        ours += cell.value;
        error += cell.error * cell.error;
        theirs += reference.grid[static_cast<std::size_t>(r * settings.depth_cells + z)];
      }
    }
    INFO("band " << band << ": " << ours << ", " << theirs / static_cast<double>(photons));
    // Cells of a band go together: a photon that is there visits many.
    CHECK(std::abs(ours - theirs / static_cast<double>(photons)) <=
          0.03 * ours + 8 * both * std::sqrt(error));
  }
}

TEST_CASE("Every variant gives the same numbers, and so does every division of the photons", "[photons]") {
  const std::string detector =
      R"("photons": 6000, "detector_radius": 0.2, "detector_half_width": 0.1, "visits": true, "source": "gaussian",
         "source_radius": 0.05, "radial_cells": 20, "depth_cells": 30, "item_photons": )";
  const Settings whole = settings_of(with_layers(clear_layers, detector + "6000"));
  kit::ItemContext quiet;
  const Tallies expected = compute_item(whole, 0, quiet, kit::CpuLevel::baseline);
  const Layout layout(whole);
  CHECK(expected[static_cast<std::size_t>(layout.detector)] > 100);
  for (const kit::CpuLevel level : kit::cpu_levels()) {
    INFO(kit::name_of(level));
    CHECK((compute_item(whole, 0, quiet, level) == expected));
  }
  const Settings parts = settings_of(with_layers(clear_layers, detector + "700"));
  REQUIRE(parts.items() == 9);
  Tallies sum(expected.size());
  for (std::int64_t item = 0; item < 9; ++item) {
    const Tallies tallies = compute_item(parts, item, quiet);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += tallies[i];
    CHECK(check_sums(parts, item, tallies).ok());
  }
  // Blocks are an item's own; all the rest adds up.
  const auto begin = static_cast<std::ptrdiff_t>(layout.squares);
  CHECK(std::equal(sum.begin() + begin, sum.end(), expected.begin() + begin));
  const std::int64_t block = 17;
  const BlockTally again = compute_block(whole, 0, block, kit::CpuLevel::baseline);
  CHECK(again.events == block_of(expected, block).events);
  CHECK(again.absorbed == block_of(expected, block).absorbed);
}

TEST_CASE("A fixed seed gives a fixed result", "[photons]") {
  const Settings settings = settings_of(
      R"({"tissue": "head", "photons": 200, "item_photons": 200, "detector_radius": 0.5, "detector_half_width": 0.3,
          "visits": true})");
  kit::ItemContext quiet;
  CHECK(test::digest(encode(compute_item(settings, 0, quiet))) == 0xa24ad428eb220fde);
}

TEST_CASE("Weight that is neither left nor lost is absorbed, to the last unit but rounding", "[photons]") {
  const Settings settings =
      settings_of(with_layers(clear_layers, R"("photons": 5000, "item_photons": 5000)"));
  kit::ItemContext quiet;
  Tallies tallies = compute_item(settings, 0, quiet);
  CHECK(check_sums(settings, 0, tallies).ok());
  const Layout layout(settings);
  const auto refused = [&](std::int64_t place, std::int64_t change) {
    Tallies wrong = tallies;
    wrong[static_cast<std::size_t>(place)] += change;
    return !check_sums(settings, 0, wrong).ok();
  };
  for (const std::int64_t place : {layout.blocks, layout.blocks + 1, layout.blocks + 2, layout.layers,
                                   layout.reflected, layout.transmitted, layout.absorbed, layout.histogram})
    CHECK(refused(place, 1 << 20));
  CHECK(refused(layout.blocks + 5, -2'000'000));
  CHECK(refused(layout.absorbed, INT64_MIN));
}

TEST_CASE("Photons without end are given up, and counted", "[photons]") {
  // Nothing absorbs, all light turns around and around in a layer that it cannot leave but by luck.
  const Settings settings = settings_of(
      with_layers("above 1; layer trap 4 0 20000 0 1; below 1", R"("photons": 8, "item_photons": 64)"));
  const Sums sums = computed(settings);
  CHECK(sums.lost() >= 0);
  CHECK(sums.absorbed().value == 0);
  CHECK(sums.reflected().value + sums.transmitted().value + sums.lost() == Approx(1 - 0.36).margin(1e-6));
}

TEST_CASE("Tissues are read with their mistakes named", "[photons]") {
  for (const char* name : {"head", "slab", "half-space"}) CHECK(parse_tissue(bundled_tissue(name)).ok());
  const auto head = parse_tissue(bundled_tissue("head"));
  CHECK(head->layers.size() == 5);
  CHECK(head->layers[3].name == "grey");
  CHECK(std::isinf(head->layers[4].thickness));
  const auto tissue =
      parse_tissue("# skin\r\nabove 1.1\n\n layer  a_1 1.4 0 1e2 -0.5 0.25 # thin\r\nbelow 1.2");
  REQUIRE(tissue.ok());
  CHECK(tissue->index_above == 1.1);
  CHECK(tissue->index_below == 1.2);
  CHECK(tissue->layers.at(0).scattering == 100);
  CHECK(tissue->layers.at(0).anisotropy == -0.5);
  const auto mistake = [](std::string_view text) {
    const auto read = parse_tissue(text);
    return read.ok() ? "" : read.error().message;
  };
  CHECK(mistake("") == "the tissue has no layer");
  CHECK(mistake("layer a 1 1 1 0 1\nabout 3") == "line 2: it must begin with above, layer or below");
  CHECK(mistake("layer a 0.5 1 1 0 1") == "line 1: the refractive index must be a number from 1 to 4");
  CHECK(mistake("layer a 1 1 1 0") ==
        "line 1: the thickness must be a number from 1e-09 to 10000 or the word infinite");
  CHECK(mistake("layer a 1 1 1 0 1 1") == "line 1: there are words too many");
  CHECK(mistake("layer a 1 0 0 0 infinite") == "line 1: an infinite layer must absorb or scatter");
  CHECK(mistake("layer a 1 1 0 0 infinite; layer b 1 1 0 0 1") ==
        "line 2: there can be no layer under an infinite one");
  CHECK(mistake("layer a;b 1 1 0 0 1").find("refractive index") != std::string::npos);
  CHECK(mistake("layer a 1 nan 0 0 1").find("absorption") != std::string::npos);
  std::string many;
  for (int i = 0; i < 17; ++i) many += "layer a 1 1 0 0 1\n";
  CHECK(mistake(many) == "line 17: at most 16 layers are allowed");
  CHECK(mistake(std::string(20000, '#')).find("16384") != std::string::npos);
}

TEST_CASE("The photons' artefact does not depend on the division", "[photons]") {
  test::check_properties(
      {"photons",
       R"({"photons": 3000, "item_photons": 250, "detector_radius": 0.3, "detector_half_width": 0.2,
                              "visits": true, "radial_cells": 30, "depth_cells": 20})",
       {{"tissue", clear_layers}},
       11});
}

TEST_CASE("Photons' parameters are checked with messages", "[photons]") {
  const auto answer = [](const std::string& parameters) { return test::complaint("photons", parameters); };
  CHECK(answer(R"({"tissue": "head"})") == "ok");
  CHECK(answer("{}").starts_with("error give the tissue as the input `tissue`"));
  CHECK(answer(R"({"tissue": "head", "layers": "layer a 1 1 1 0 1"})").find("layers: give either") !=
        std::string::npos);
  CHECK(answer(R"({"layers": "layer a 1 1 1 0 none"})").find("layers: line 1: the thickness") !=
        std::string::npos);
  CHECK(test::complaint("photons", "{}", {{"tissue", "layer"}}).starts_with("error line 1: a layer's name"));
  CHECK(answer(R"({"tissue": "slab", "source": "disc"})").find("source_radius: must be above 0") !=
        std::string::npos);
  CHECK(answer(R"({"tissue": "slab", "visits": true})").find("visits: is for a detector") !=
        std::string::npos);
  CHECK(
      answer(R"({"tissue": "slab", "radial_cells": 3000, "depth_cells": 3000})").find("lower radial_cells") !=
      std::string::npos);
  CHECK(answer(R"({"tissue": "head", "item_photons": 4000000})")
            .find("item_photons: an item may take minutes") != std::string::npos);
  CHECK(answer(R"({"tissue": "slab", "item_photons": 1, "photons": 100000000000})")
            .find("items: lower photons") != std::string::npos);
  for (const char* wrong :
       {R"({"tissue": "knee"})", R"({"tissue": "slab", "photons": 0})",
        R"({"tissue": "slab", "angle_cells": 91})", R"({"tissue": "slab", "detector_angle": 0})",
        R"({"tissue": "slab", "source": "laser"})", R"({"tissue": "slab", "photon": 5})"})
    CHECK(answer(wrong).starts_with("error "));
}

}  // namespace gleaner::photons

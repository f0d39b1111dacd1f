// Pollard's rho against baby steps and giant steps, its distribution, and the manager's verdicts.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "apps/dlog/collisions.h"
#include "apps/dlog/settings.h"
#include "apps/dlog/walk.h"
#include "tests/catch.h"
#include "tests/unit/apps/application.h"

namespace gleaner::dlog {
namespace {

// Shanks 1971. REQUIRES: q < 2^32.
mpz_class baby_steps(const Group& group) {
  const auto m = static_cast<unsigned long>(std::ceil(std::sqrt(group.q.get_d())));
  std::unordered_map<std::string, unsigned long> baby;
  mpz_class element = 1;
  for (unsigned long j = 0; j < m; ++j) {
    baby.emplace(to_text(element), j);
    element = modulo(mpz_class(element * group.g), group.p);
  }
  const mpz_class giant = *inverse(power(group.g, mpz_class(m), group.p), group.p);
  element = group.y;
  for (unsigned long i = 0; i < m; ++i) {
    if (const auto found = baby.find(to_text(element)); found != baby.end())
      return modulo(mpz_class(mpz_class(i) * m + found->second), group.q);
    element = modulo(mpz_class(element * giant), group.p);
  }
  FAIL("no logarithm");
  return 0;
}

struct Solved {
  mpz_class x;
  double steps = 0;
};

Solved solve(const Group& group, Walker::Path path = Walker::Path::fastest) {
  Walker walker(group, path);
  Collisions collisions(group, {});
  kit::ItemContext quiet;
  Solved solved;
  for (std::int64_t item = 0; !collisions.solution(); ++item) {
    const Points points = walker.run(item, quiet);
    solved.steps += static_cast<double>(points.steps);
    REQUIRE(collisions.add(points.points).ok());
  }
  solved.x = *collisions.solution();
  return solved;
}

Group largest_64_bit_group() {
  Group group;
  group.p = *parse_number("18446744073709550147");
  group.q = *parse_number("9223372036854775073");
  group.g = 4;
  group.y = power(group.g, *parse_number("1234567890123456789"), group.p);
  group.distinguished_bits = 10;
  group.walks = 37;
  return group;
}

std::string largest_as_parameters(const std::string& more = "") {
  return R"({"p": "0xfffffffffffffa43", "g": "4", "y": ")" + to_text(largest_64_bit_group().y) + "\"" + more +
         "}";
}

}  // namespace

TEST_CASE("Numbers of 64 bits keep all of them, whatever a long has", "[dlog]") {
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xFFFFFFFF}, std::uint64_t{1} << 32,
        std::uint64_t{0x0123456789ABCDEF}, ~std::uint64_t{0}}) {
    CHECK(to_unsigned(from_unsigned(number)) == number);
    CHECK(to_text(from_unsigned(number)) == std::to_string(number));
  }
}

TEST_CASE("Numbers are read and written", "[dlog]") {
  CHECK(*parse_number("0xff") == 255);
  CHECK(*parse_number("00012") == 12);
  for (const char* wrong : {"", "-1", "0x", "1.5", "12a", " 1", "0X1"}) CHECK_FALSE(parse_number(wrong));
  const mpz_class large = *parse_number("340282366920938463463374607431768211455");
  CHECK(from_bytes(to_bytes(large, 20)) == large);
  CHECK(to_bytes(mpz_class(258), 3) == Bytes("\x02\x01\x00", 3));
  CHECK(modulo(mpz_class(-1), mpz_class(7)) == 6);
  CHECK_FALSE(inverse(mpz_class(0), mpz_class(7)));
}

TEST_CASE("Logarithms are those of baby steps and giant steps", "[dlog]") {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const int order_bits = 8 + static_cast<int>(seed);  // 9 to 32
    Group group = made_up_group(order_bits + (seed % 3 == 0 ? 20 : 1), order_bits, seed);
    group.seed = seed;
    group.choose_walks();
    INFO("seed " << seed << ": " << group.text());
    REQUIRE(power(group.g, group.q, group.p) == 1);
    REQUIRE(group.g != 1);
    const mpz_class x = solve(group).x;
    if (order_bits <= 24) REQUIRE(x == baby_steps(group));
    REQUIRE(power(group.g, x, group.p) == group.y);
  }
}

TEST_CASE("Moduli beyond 64 bits", "[dlog]") {
  for (const int bits : {65, 128, 200}) {
    Group group = made_up_group(bits, 20, static_cast<std::uint64_t>(bits));
    group.choose_walks();
    CHECK(solve(group).x == baby_steps(group));
  }
}

TEST_CASE("One limb and any size give the same bytes", "[dlog]") {
  kit::ItemContext quiet;
  std::vector<Group> groups{largest_64_bit_group()};
  for (const int bits : {20, 33, 50, 63, 64}) {
    groups.push_back(made_up_group(bits, bits - 1, static_cast<std::uint64_t>(bits)));
    groups.back().distinguished_bits = bits < 30 ? 2 : 8;
    groups.back().walks = 21;
  }
  for (const Group& group : groups) {
    INFO(group.text());
    Walker fast(group);
    Walker any(group, Walker::Path::any_size);
    for (const std::int64_t item : {0, 5, 3}) {
      const Points points = fast.run(item, quiet);
      REQUIRE(encode(points) == encode(any.run(item, quiet)));
      REQUIRE_FALSE(points.points.empty());
      for (const Point& point : points.points) {
        REQUIRE(is_distinguished(group, point.element));
        REQUIRE(is_right(group, point));
      }
      REQUIRE(encode(*decode(group, encode(points))) == encode(points));
    }
  }
}

TEST_CASE("Items keep their bytes", "[dlog]") {
  kit::ItemContext quiet;
  Walker walker(largest_64_bit_group());
  const Points points = walker.run(7, quiet);
  CHECK(points.points.size() == 37);
  CHECK(test::digest(encode(points)) == 0x2137f414fc6a43c);
}

TEST_CASE("The work is Rayleigh distributed", "[dlog]") {
#ifdef GLEANER_SANITIZED
  constexpr int runs = 60;
#else
  constexpr int runs = 300;
#endif
  std::vector<double> parts;
  double sum = 0;
  for (int run = 0; run < runs; ++run) {
    Group group = made_up_group(26, 25, 1000 + static_cast<std::uint64_t>(run));
    group.seed = static_cast<std::uint64_t>(run);
    group.distinguished_bits = 4;
    group.walks = 1;
    const Solved solved = solve(group);
    REQUIRE(power(group.g, solved.x, group.p) == group.y);
    parts.push_back(solved.steps / group.expected_steps());
    sum += parts.back();
  }
  const double mean = sum / runs;
  // The mean's standard error is 0.523 / sqrt(runs); four of them.
  CHECK(std::abs(mean - 1) < 4 * 0.523 / std::sqrt(runs));
  // Kolmogorov and Smirnov, against the distribution of that mean; the level is 1 %.
  std::sort(parts.begin(), parts.end());
  double distance = 0;
  for (int i = 0; i < runs; ++i) {
    const double part = parts[static_cast<std::size_t>(i)] / mean;
    const double below = 1 - std::exp(-3.141592653589793 / 4 * part * part);
    distance = std::max({distance, std::abs(below - static_cast<double>(i) / runs),
                         std::abs(below - static_cast<double>(i + 1) / runs)});
  }
  CHECK(distance < 1.63 / std::sqrt(runs));
}

TEST_CASE("Points last in their file, and one that is cut short is dropped", "[dlog]") {
  test::TemporaryDirectory directory;
  const Group group = largest_64_bit_group();
  kit::ItemContext quiet;
  const Points points = Walker(group).run(0, quiet);
  const auto file = directory.path() / "points";
  Collisions first(group, file);
  REQUIRE(first.add(points.points).ok());
  REQUIRE(first.add(points.points).ok());  // twice is once
  CHECK(first.points() == 37);
  const std::string bytes = test::read_text(file);
  CHECK(bytes.size() == 37 * 24);
  test::write_text(file, bytes.substr(0, bytes.size() - 5));
  Collisions second(group, file);
  CHECK(second.points() == 36);
  REQUIRE(second.add(points.points).ok());
  CHECK(test::read_text(file) == bytes);
  CHECK_FALSE(second.solution());
}

TEST_CASE("A logarithm through the contract, in any division and order", "[dlog]") {
  const std::string parameters =
      R"({"random_bits": 34, "item_walks": 200, "seed": 3, "distinguished_bits": 5})";
  std::string expected;
  for (const std::int64_t size : {1, 2, 7}) {
    test::Application application("dlog", parameters);
    REQUIRE(application.plan().ends_with("name walks\ninput group group.txt\nok\n"));
    test::Items items;
    std::vector<Range> pieces;
    std::string verdict = "valid";
    for (std::int64_t at = 0; verdict == "valid"; at += size) {
      // From the end backwards in one of the three
      const std::int64_t begin = size == 7 ? application.items() - at - size : at;
      REQUIRE(begin >= 0);
      REQUIRE(begin < application.items());
      const Range range{begin, std::min(application.items(), begin + size)};
      items.merge(application.compute(range));
      verdict = application.validate(range, items);
      if (pieces.empty()) {
        application.restart_manager();
        CHECK(application.validate(range, items) == verdict);  // a duplicate
        CHECK(application.combine(items, {range}, "preview").at("answer.json").find("\"x\": null") !=
              std::string::npos);
      }
      pieces.push_back(range);
    }
    CHECK(verdict == "enough");
    application.restart_manager();
    CHECK(application.validate(pieces.front(), items) == "enough");  // although a result was late
    const test::Files files = application.combine(items, pieces);
    const std::string answer = files.at("answer.json");
    CHECK(answer.find("\"verified\": true") != std::string::npos);
    if (expected.empty()) expected = answer;
    CHECK(answer == expected);
    CHECK(files.count("work.svg") == 1);
  }
}

TEST_CASE("What is no point of the group is refused", "[dlog]") {
  test::Application application("dlog",
                                largest_as_parameters(R"(, "item_walks": 5, "distinguished_bits": 6)"));
  application.plan();
  const test::Items items = application.compute({0, 2});
  CHECK(application.validate({0, 2}, items) == "valid");
  const std::string& good = items.at(0);
  const auto refused = [&](const std::string& bytes) {
    return application.validate({0, 1}, {{0, bytes}}).starts_with("invalid item 0: ");
  };
  CHECK(refused(good.substr(0, good.size() - 1)));
  CHECK(refused(good + '\0'));
  CHECK(refused(""));
  for (const std::size_t byte :
       {0U, 8U, 12U + 4U, 12U + 4U + 8U, 12U + 4U + 16U}) {  // steps, count, element, a, b
    std::string wrong = good;
    wrong[byte] = static_cast<char>(wrong[byte] ^ (byte == 0 ? 0 : 1));
    if (byte == 0) wrong.replace(0, 8, std::string(8, '\0'));
    INFO("byte " << byte);
    CHECK(refused(wrong));
  }
  CHECK(application.validate({application.items(), application.items() + 1}, {{application.items(), good}}) ==
        "invalid there are no such items");
}

TEST_CASE("A logarithm's parameters are checked with messages", "[dlog]") {
  const auto answer = [](const std::string& parameters) { return test::complaint("dlog", parameters); };
  CHECK(answer(largest_as_parameters()) == "ok");
  CHECK(answer(largest_as_parameters(R"(, "q": "9223372036854775073")")) == "ok");
  CHECK(answer(R"({"random_bits": 60})") == "ok");
  CHECK(answer(R"({"random_bits": 600, "random_order_bits": 40})") == "ok");
  CHECK(answer("{}").starts_with("error p: must be given"));
  CHECK(answer(R"({"p": "100", "g": "2", "y": "3"})") == "error p: must be a prime from 5 to 2^4096");
  CHECK(answer(R"({"p": "1000003", "g": "2", "y": "3"})").find("Pohlig and Hellman") != std::string::npos);
  CHECK(answer(R"({"p": "1000003", "q": "166667", "g": "1", "y": "3"})").find("error g: ") == 0);
  // 2 is no square modulo 23, so no power of 4.
  CHECK(answer(R"({"p": "23", "g": "4", "y": "5"})") ==
        "error y: must be from 1 to p - 1 and a power of g: y^q is not 1 modulo p");
  CHECK(answer(R"({"p": "23", "g": "four", "y": "5"})").find("g: must be a whole number as text") !=
        std::string::npos);
  CHECK(answer(R"({"random_bits": 30, "distinguished_bits": 20})") ==
        "error distinguished_bits: at most 14 for an order of this size");
  CHECK(answer(R"({"random_bits": 300})").find("at most 100") != std::string::npos);
  for (const char* wrong : {R"({"random_bits": 4})", R"({"random_bits": 60, "g": "4"})", R"({"p": 23})",
                            R"({"random_bits": 60, "distinguished_bits": 32})",
                            R"({"random_bits": 60, "bits": 3})", R"({"random_bits": 60, "item_walks": 0})"})
    CHECK(answer(wrong).starts_with("error "));
}

}  // namespace gleaner::dlog

// The built programs, and a sample in Python, through the contract over real pipes.
#include <png.h>

#include <chrono>

#include "apps/kit/segments.h"
#include "tests/catch.h"
#include "tests/unit/apps/peer.h"

namespace gleaner::test {
namespace {

const std::filesystem::path bundles = GLEANER_BUNDLE_DIRECTORY;
const std::filesystem::path python_app = GLEANER_PYTHON_APP;
using Items = std::map<std::int64_t, std::string>;

struct Programs {
  std::filesystem::path kernel;
  std::filesystem::path manager;
};

Programs programs(const std::string& name) {
  return {bundles / name / "bin" / (name + "-kernel"), bundles / name / "bin" / (name + "-manager")};
}

// A program that has greeted and taken the problem.
std::unique_ptr<Peer> start(const std::filesystem::path& program, const TemporaryDirectory& directory,
                            const std::vector<std::string>& environment = {}) {
  auto peer = std::make_unique<Peer>(std::vector<std::string>{program}, directory.path(), environment);
  REQUIRE(peer->ask("gleaner 1").starts_with("ready 1"));
  REQUIRE(peer->ask("problem " + (directory.path() / "problem").string()) == "ok");
  return peer;
}

void quit(Peer& peer) {
  peer.send("quit\n");
  CHECK(peer.read_line() == "<end>");
  CHECK(peer.exit_status() == 0);
}

Items compute(Peer& kernel, std::int64_t begin, std::int64_t end) {
  Items items;
  kernel.send("unit 0 " + std::to_string(begin) + " " + std::to_string(end) + "\n");
  REQUIRE(kernel.collect(items) == "done " + std::to_string(end));
  return items;
}

// Has the manager validate the items and combine them from two pieces; gives its answers.
std::vector<std::string> combine(Peer& manager, const TemporaryDirectory& directory, const Items& items) {
  const std::int64_t count = static_cast<std::int64_t>(items.size());
  Bytes segment;
  for (const auto& [index, bytes] : items) kit::append_item(segment, bytes);
  manager.send("validate 0 0 " + std::to_string(count) + " " + std::to_string(segment.size()) + "\n" +
               segment);
  CHECK(manager.read_line() == "valid");
  write_text(directory.path() / "segment", segment);
  const std::string middle = std::to_string(count / 2);
  write_text(directory.path() / "list",
             "0 " + middle + " 0 segment\n" + middle + " " + std::to_string(count) + " 0 segment\n");
  manager.send("combine 0 list\n");
  std::vector<std::string> answers;
  do {
    answers.push_back(manager.read_line());
    if (answers.back().starts_with("progress ")) answers.pop_back();
  } while (answers.empty() || answers.back().starts_with("result "));
  return answers;
}

std::string plan(Peer& manager) {
  std::string all;
  for (std::string line = manager.ask("plan 0");; line = manager.read_line()) {
    all += line + "\n";
    if (line == "ok" || line == "end" || line.starts_with("error") || line == "<end>") return all;
  }
}

std::string pixels_of(const std::filesystem::path& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_file(&image, path.c_str()) != 0);
  image.format = PNG_FORMAT_RGB;
  std::string pixels(PNG_IMAGE_SIZE(image), '\0');
  REQUIRE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) != 0);
  return pixels;
}

const std::string small_scene = R"({"scene": "B", "width": 64, "height": 48, "samples": 1})";

}  // namespace

TEST_CASE("raytrace: plan, compute, validate, combine and preview") {
  TemporaryDirectory directory;
  directory.problem(small_scene);
  const auto manager = start(programs("raytrace").manager, directory);
  const auto before = std::chrono::steady_clock::now();
  CHECK(plan(*manager) == "items 48\nname lines\nhints hints-0.txt\nok\n");
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds{3});
  const auto kernel = start(programs("raytrace").kernel, directory);
  const Items items = compute(*kernel, 0, 48);
  CHECK(combine(*manager, directory, items) ==
        std::vector<std::string>{"result image.png stage-0/image.png image/png", "ok"});
  std::string expected;
  for (const auto& [index, bytes] : items) expected += bytes;
  CHECK((pixels_of(directory.path() / "stage-0/image.png") == expected));

  write_text(directory.path() / "list", "3 5 0 segment\n40 41 0 segment\n");
  CHECK(manager->ask("preview 0 list").starts_with("progress"));
  CHECK(manager->read_line() == "result image.png preview-0/image.png image/png");
  CHECK(manager->read_line() == "ok");
  for (std::size_t row = 0; row < 48; ++row) {
    const std::size_t line = 64 * 3;
    const bool there = row == 3 || row == 4 || row == 40;
    const std::string pixels = pixels_of(directory.path() / "preview-0/image.png").substr(row * line, line);
    REQUIRE((pixels == (there ? expected.substr(row * line, line) : std::string(line, '\x28'))));
  }
  CHECK(manager->ask("combine 0 list").starts_with("error the pieces do not hold the items 0 to 47 exactly"));
  CHECK(plan(*manager).starts_with("items 48"));
  CHECK(manager->ask("plan 1") == "end");
  quit(*manager);
  quit(*kernel);
}

TEST_CASE("Items are the same bytes in any grouping, order and process") {
  for (const std::string name : {"raytrace", "mandelbrot"}) {
    TemporaryDirectory directory;
    directory.problem(name == "raytrace" ? small_scene : R"({"width": 64, "height": 48})");
    const auto kernel = start(programs(name).kernel, directory);
    const Items all = compute(*kernel, 0, 48);
    const auto other = start(programs(name).kernel, directory);
    for (std::int64_t begin = 48, size = 1; begin > 0; ++size) {
      const std::int64_t end = begin;
      begin = std::max<std::int64_t>(0, begin - size);
      for (const auto& [index, bytes] : compute(*other, begin, end)) REQUIRE((bytes == all.at(index)));
    }
  }
}

TEST_CASE("Items are the same bytes whatever the processor offers the C library") {
  for (const std::string name : {"raytrace", "mandelbrot"}) {
    TemporaryDirectory directory;
    directory.problem(name == "raytrace" ? small_scene : R"({"width": 64, "height": 48})");
    const auto plain = start(programs(name).kernel, directory);
    // Both spellings that glibc has had; it passes over those it does not know.
    const auto masked =
        start(programs(name).kernel, directory,
              {"GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-FMA4_Usable,-AVX_Usable,"
               "-AVX2,-FMA,-FMA4,-AVX,-SSE4_1,-SSE4_2,-AVX512F"});
    CHECK((compute(*plain, 0, 48) == compute(*masked, 0, 48)));
  }
}

TEST_CASE("A kernel stops at an earlier end, between two items it writes") {
  TemporaryDirectory directory;
  directory.problem(R"({"scene": "D", "samples": 64})");
  const auto kernel = start(programs("raytrace").kernel, directory);
  kernel->send("unit 0 300 640\n");
  Items items;
  std::string line = kernel->read_line();
  while (line.starts_with("progress ")) line = kernel->read_line();
  REQUIRE(line == "item 300 2520");
  items[300] = kernel->read_bytes(2520);
  kernel->send("end 302\n");
  CHECK(kernel->collect(items) == "done 302");
  CHECK(items.size() == 2);
  kernel->send("unit 0 302 640\nend 302\n");  // while the item runs or before: never written
  Items none;
  CHECK(kernel->collect(none) == "done 302");
  CHECK(none.empty());
  kernel->send("unit 0 302 640\nquit\n");
  CHECK(kernel->collect(none) == "<end>");
  CHECK(kernel->exit_status() == 0);
}

TEST_CASE("A kernel whose client is gone ends by itself") {
  TemporaryDirectory directory;
  directory.problem(R"({"scene": "D", "samples": 64})");
  const auto kernel = start(programs("raytrace").kernel, directory);
  kernel->send("unit 0 0 640\n");
  CHECK(kernel->exit_status() == 0);
}

TEST_CASE("mandelbrot: plan, compute, combine with totals") {
  TemporaryDirectory directory;
  directory.problem(R"({"width": 64, "height": 64, "colour": "counts"})");
  const auto manager = start(programs("mandelbrot").manager, directory);
  CHECK(plan(*manager) == "items 64\nname rows\nhints hints-0.txt\nok\n");
  const auto kernel = start(programs("mandelbrot").kernel, directory);
  CHECK(combine(*manager, directory, compute(*kernel, 0, 64)) ==
        std::vector<std::string>{"result image.png stage-0/image.png image/png",
                                 "result counts.json stage-0/counts.json application/json", "ok"});
  const std::string counts = read_text(directory.path() / "stage-0/counts.json");
  CHECK(counts.find("\"never_escaping\": 690,") != std::string::npos);
  CHECK(counts.find("\"summed_counts\": 705774,") != std::string::npos);
  CHECK(pixels_of(directory.path() / "stage-0/image.png").size() == 64 * 64 * 3);
  kernel->send("unit 0 64 65\n");
  Items none;
  CHECK(kernel->collect(none) == "error there is no such row");
  quit(*kernel);
  quit(*manager);
}

TEST_CASE("A kernel and a manager refuse a wrong problem with the same words") {
  TemporaryDirectory directory;
  directory.problem(R"({"width": 0})");
  for (const auto& program : {programs("mandelbrot").kernel, programs("mandelbrot").manager}) {
    Peer peer({program}, directory.path());
    REQUIRE(peer.ask("gleaner 1").starts_with("ready 1"));
    CHECK(peer.ask("problem " + (directory.path() / "problem").string()) ==
          "error width: must be a whole number from 1 to 65536, not 0");
    CHECK(peer.ask("problem /nowhere") == "error cannot open /nowhere/parameters.json");
  }
}

TEST_CASE("A kernel in Python, of thirty lines, needs nothing but the contract") {
  TemporaryDirectory directory;
  directory.problem(R"({"first": 3, "count": 10})");
  const auto manager = start(python_app / "manager.py", directory);
  CHECK(plan(*manager) == "items 10\nname squares\nok\n");
  const auto kernel = start(python_app / "kernel.py", directory);
  const Items items = compute(*kernel, 0, 10);
  CHECK(items.at(0) == "9");
  CHECK(items.at(9) == "144");
  CHECK(combine(*manager, directory, items) ==
        std::vector<std::string>{"result sum.txt stage-0/sum.txt text/plain", "ok"});
  CHECK(read_text(directory.path() / "stage-0/sum.txt") == "645\n");  // 9 + 16 + … + 144
  CHECK(kernel->ask("checkpoint") == "checkpoint none");
  kernel->send("end 3\nunit 0 0 1000000000\nend 5\n");
  Items trimmed;
  const std::string done = kernel->collect(trimmed);
  CHECK(done == "done " + std::to_string(trimmed.size()));
  CHECK(trimmed.size() < 1'000'000);
  CHECK(kernel->ask("sing") == "error unknown command");
  quit(*kernel);
  quit(*manager);
}

}  // namespace gleaner::test

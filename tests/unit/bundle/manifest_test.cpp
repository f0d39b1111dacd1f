#include "shared/bundle/manifest.h"

#include "tests/catch.h"
#include "tests/unit/says.h"

using namespace gleaner;
using namespace gleaner::bundle;

namespace {

const std::string whole = R"(manifest = 1
name = "raytrace"
version = "1.0.0"
title = "Ray tracer"
compatible_with = ["0.9.0", "0.9.1"]
needs = ["python>=3.9", "numpy"]
[kernel]
x86_64-linux = "bin/raytrace-kernel"
any = "bin/kernel.py"
[manager]
program = "bin/raytrace-manager"
keeps_inputs = true
[items]
meaning = "one scan-line"
split = false
checkpoint = true
comparison = "manager"
threads = 0
[limits]
memory_megabytes = 512
disk_megabytes = 2
item_bytes = 4096
item_seconds = 60
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = whole;
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string mistakes_in(const std::string& text) {
  const auto manifest = parse_manifest(text, "manifest.toml");
  if (manifest.ok()) return "accepted";
  CHECK(manifest.error().kind == ErrorKind::invalid);
  return manifest.error().message;
}

}  // namespace

TEST_CASE("A manifest names no more platforms than a host may offer") {
  std::string platforms;
  for (int i = 0; i < 17; ++i) platforms += "p" + std::to_string(i) + "-linux = \"bin/kernel\"\n";
  CHECK_THAT(mistakes_in(with("any = \"bin/kernel.py\"\n", platforms)),
             Catch::Contains("at most 16 platforms"));
}

TEST_CASE("a whole manifest is read") {
  const auto manifest = parse_manifest(whole, "manifest.toml");
  if (!manifest.ok()) FAIL(manifest.error().message);
  CHECK(manifest->name == "raytrace");
  CHECK(manifest->version == "1.0.0");
  CHECK(manifest->title == "Ray tracer");
  CHECK(manifest->compatible_with == std::vector<std::string>{"0.9.0", "0.9.1"});
  CHECK(manifest->needs == std::vector<std::string>{"python>=3.9", "numpy"});
  CHECK(manifest->manager == "bin/raytrace-manager");
  CHECK(manifest->keeps_inputs);
  CHECK(manifest->item_meaning == "one scan-line");
  CHECK_FALSE(manifest->split);
  CHECK(manifest->checkpoint);
  CHECK(manifest->comparison == Comparison::manager);
  CHECK(manifest->threads == 0);
  CHECK(manifest->memory_bytes == std::int64_t{512} << 20);
  CHECK(manifest->disk_bytes == 2 << 20);
  CHECK(manifest->item_bytes == 4096);
  CHECK(manifest->item_seconds == 60);
}

TEST_CASE("the versions that a manifest continues are versions") {
  CHECK_THAT(mistakes_in(with("\"0.9.0\"", "\"../0.9\"")), Catch::Contains("compatible_with"));
}

TEST_CASE("What a manifest needs are needs, and not too many") {
  CHECK_THAT(mistakes_in(with("\"numpy\"", "\"numpy>2\"")), Catch::Contains("needs: expected a need"));
  std::string many = "needs = [";
  for (int i = 0; i < 17; ++i) many += "\"python\", ";
  CHECK_THAT(mistakes_in(with("needs = [\"python>=3.9\", ", many)), Catch::Contains("needs: at most 16"));
}

TEST_CASE("the least manifest has the contract's defaults") {
  const auto manifest = parse_manifest(
      "manifest = 1\nname = \"a\"\nversion = \"1\"\n[kernel]\nany = \"k\"\n[manager]\nprogram = \"m\"\n",
      "f");
  if (!manifest.ok()) FAIL(manifest.error().message);
  CHECK(manifest->title == "a");
  CHECK(manifest->compatible_with.empty());
  CHECK(manifest->needs.empty());
  CHECK_FALSE(manifest->keeps_inputs);
  CHECK(manifest->split);
  CHECK_FALSE(manifest->checkpoint);
  CHECK(manifest->comparison == Comparison::exact);
  CHECK(manifest->threads == 1);
  CHECK(manifest->memory_bytes == std::int64_t{256} << 20);
  CHECK(manifest->item_bytes == 1 << 20);
  CHECK(manifest->item_seconds == 600);
}

TEST_CASE("the first platform with a kernel wins, any comes last") {
  const auto manifest = parse_manifest(whole, "f");
  REQUIRE(manifest.ok());
  CHECK(manifest->kernel_for({"x86_64-linux"}) == "bin/raytrace-kernel");
  CHECK(manifest->kernel_for({"x86_64-v3-linux", "x86_64-linux"}) == "bin/raytrace-kernel");
  CHECK(manifest->kernel_for({"any", "x86_64-linux"}) == "bin/kernel.py");
  CHECK(manifest->kernel_for({"riscv64-linux"}) == "bin/kernel.py");
  Manifest native = *manifest;
  native.kernels.erase("any");
  CHECK(native.kernel_for({"riscv64-linux"}).empty());
  CHECK(native.kernel_for({}).empty());
}

TEST_CASE("what is missing is listed, all of it") {
  const std::string message = mistakes_in("");
  for (const char* key : {"manifest: missing", "name: missing", "version: missing",
                          "manager.program: missing", "kernel: missing"})
    says(message, key);
  says(mistakes_in("kernel = 1\n"), "manifest.toml:1: kernel: expected a table");
}

TEST_CASE("names, versions and platforms are of the letters that file names bear") {
  for (const char* name : {"", "Ray", "ray trace", "../x", "-x", "r\xc3\xa9", ".", "a/b"})
    says(mistakes_in(with("name = \"raytrace\"", "name = \"" + std::string(name) + "\"")),
         "manifest.toml:2: name: ");
  CHECK(mistakes_in(with("\"raytrace\"", "\"" + std::string(64, 'a') + "\"")) == "accepted");
  says(mistakes_in(with("\"raytrace\"", "\"" + std::string(65, 'a') + "\"")), "at most 64");
  for (const char* version : {"", "v1", "1/2", "..", "1 0", "1_0"})
    says(mistakes_in(with("\"1.0.0\"", "\"" + std::string(version) + "\"")), "manifest.toml:3: version: ");
  CHECK(mistakes_in(with("\"1.0.0\"", "\"2.0-RC1+linux\"")) == "accepted");
  says(mistakes_in(with("x86_64-linux", "\"x86 64\"")), "expected a platform");
  says(mistakes_in(with("\"Ray tracer\"", "\"a\\u001bb\"")), "one line");
}

TEST_CASE("paths stay inside the bundle") {
  for (const char* path :
       {"", "/bin/sh", "../k", "a/../../k", "a/./k", "a//k", "a/", "./k", "a\\\\k", "k\\n"}) {
    says(mistakes_in(with("\"bin/raytrace-kernel\"", "\"" + std::string(path) + "\"")),
         "path inside the bundle");
    says(mistakes_in(with("\"bin/raytrace-manager\"", "\"" + std::string(path) + "\"")),
         "path inside the bundle");
  }
}

TEST_CASE("numbers and words are bounded") {
  says(mistakes_in(with("manifest = 1", "manifest = 2")), "reads format 1, not 2");
  says(mistakes_in(with("threads = 0", "threads = -1")), "from 0 to 1024");
  says(mistakes_in(with("comparison = \"manager\"", "comparison = \"near\"")), "\"exact\" or \"manager\"");
  says(mistakes_in(with("item_bytes = 4096", "item_bytes = 0")), "item_bytes");
  says(mistakes_in(with("item_bytes = 4096", "item_bytes = 536870913")), "item_bytes");
  says(mistakes_in(with("memory_megabytes = 512", "memory_megabytes = 0")), "memory_megabytes");
  says(mistakes_in(with("item_seconds = 60", "item_seconds = 0")), "item_seconds");
  says(mistakes_in(with("split = false", "splits = false")), "unknown key; known here: meaning, split");
}

TEST_CASE("A manifest that wraps a program needs neither kernel nor manager, and may have neither") {
  const std::string wrapped =
      "manifest = 1\nname = \"squeeze\"\nversion = \"1\"\n[wrap]\ncommand = [\"bin/gzip\", \"-9\"]\nsuffix = "
      "\".gz\"\n";
  const auto manifest = parse_manifest(wrapped, "manifest.toml");
  REQUIRE(manifest.ok());
  CHECK(manifest->wrap == std::vector<std::string>{"bin/gzip", "-9"});
  CHECK(manifest->wrap_suffix == ".gz");
  CHECK(manifest->kernels.empty());
  says(mistakes_in(wrapped + "[manager]\nprogram = \"bin/manager\"\n"),
       "goes without [kernel] and [manager]");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = wrapped;
    return text.replace(text.find(from), from.size(), to);
  };
  says(mistakes_in(changed("bin/gzip", "/bin/gzip")), "a path inside the bundle");
  says(mistakes_in(changed("bin/gzip", "../gzip")), "a path inside the bundle");
  says(mistakes_in(changed("-9", "-9\\n-1")), "one line");
  says(mistakes_in(changed(".gz", "/../x")), "an ending of letters");
  std::string many;
  for (int i = 0; i < 64; ++i) many += ", \"x\"";
  says(mistakes_in(changed(", \"-9\"", many)), "at most 64 words");
}

TEST_CASE("A manifest is written as it is read") {
  const auto manifest = parse_manifest(whole, "manifest.toml");
  REQUIRE(manifest.ok());
  const std::string text = render_manifest(*manifest);
  CHECK(text.find("wrap") == std::string::npos);
  const auto again = parse_manifest(text, "manifest.toml");
  REQUIRE(again.ok());
  CHECK(again->name == manifest->name);
  CHECK(again->needs == manifest->needs);
  CHECK(again->kernels == manifest->kernels);
  CHECK(again->manager == manifest->manager);
  CHECK(again->split == manifest->split);
  CHECK(again->checkpoint == manifest->checkpoint);
  CHECK(again->comparison == manifest->comparison);
  CHECK(again->threads == manifest->threads);
  CHECK(again->memory_bytes == manifest->memory_bytes);
  CHECK(again->disk_bytes == manifest->disk_bytes);
  CHECK(again->item_bytes == manifest->item_bytes);
  CHECK(again->item_seconds == manifest->item_seconds);
  CHECK(render_manifest(*again) == text);
}

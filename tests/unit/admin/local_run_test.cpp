#include "tools/local/local_run.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include "shared/base/random.h"
#include "shared/json/text.h"
#include "shared/sandbox/elf_file.h"
#include "shared/sandbox/systems.h"
#include "tests/catch.h"
#include "tests/unit/admin/test_world.h"
#include "tools/local/libraries.h"
#include "tools/local/unit_source.h"

namespace gleaner::admin {
namespace {

// Item i of stage 0 is "i*i\n"; of stage 1 (only if the parameters say "stages":2) the number of bytes of a
// file that stage 0 made. GLEANER-style shell: POSIX sh, dd and printf only.
constexpr const char* kernel_script = R"(#!/bin/sh
while read -r command a b c; do
  case $command in
    gleaner) echo "ready 1" ;;
    problem) problem=$a; echo ok ;;
    unit)
      i=$b
      while [ $i -lt $c ]; do
        if [ -e "$problem/inputs/fail" ] && [ $i -eq 5 ]; then echo "cosmic rays" >&2; exit 3; fi
        if [ -e "$problem/inputs/error" ] && [ $i -eq 5 ]; then echo "error item 5 is too hard"; continue 2; fi
        if [ -e "$problem/inputs/hang" ]; then sleep 5; fi
        if [ $a -eq 0 ]; then text=$((i * i)); else text=$(wc -c <"$problem/inputs/squares"); fi
        text=$(echo $text)
        printf 'item %d %d\n%s' $i ${#text} "$text"
        i=$((i + 1))
      done
      echo "done $c" ;;
    quit) exit 0 ;;
    *) echo "error unknown command" ;;
  esac
done
)";

constexpr const char* manager_script = R"(#!/bin/sh
while read -r command a b c d; do
  case $command in
    gleaner) echo "ready 1" ;;
    problem)
      problem=$a
      if grep -q refuse "$problem/parameters.json"; then echo "error refuse: I do"; else echo ok; fi ;;
    plan)
      if [ $a -eq 0 ]; then echo "items 20"; echo "name squares"; echo ok
      elif [ $a -eq 1 ] && grep -q '"stages":2' "$problem/parameters.json"; then
        echo "items 2"; echo "input squares stage-0/squares"; echo ok
      else echo end; fi ;;
    validate)
      dd bs=1 count=$d of=/dev/null 2>/dev/null
      if [ -e "$problem/inputs/wrong" ]; then echo "invalid looks odd"
      elif [ -e "$problem/inputs/enough" ]; then echo enough
      else echo valid; fi ;;
    combine)
      mkdir -p stage-$a
      : >stage-$a/squares
      while read -r begin end first path; do
        echo "$begin $end" >>stage-$a/pieces
        cat "$path" >>stage-$a/squares
      done <"$b"
      echo "progress 0.5"
      echo "result squares stage-$a/squares text/plain"
      echo ok ;;
    quit) exit 0 ;;
    *) echo "error unknown command" ;;
  esac
done
)";

struct Bundle {
  TestWorld world;
  std::string directory = (world.directory / "bundle").string();
  std::string out = (world.directory / "out").string();

  Bundle() {
    manifest("item_seconds = 60");
    script("kernel.sh", kernel_script);
    script("manager.sh", manager_script);
  }
  void manifest(const std::string& limit) {
    world.write("bundle/manifest.toml",
                "manifest = 1\nname = \"squares\"\nversion = \"1\"\ntitle = \"Squares\"\n[kernel]\nany = "
                "\"kernel.sh\"\n"
                "[manager]\nprogram = \"manager.sh\"\n[items]\nmeaning = \"a square\"\n[limits]\n" +
                    limit + "\n");
  }
  void script(const std::string& name, const std::string& text) {
    std::filesystem::permissions(world.write("bundle/" + name, text), std::filesystem::perms::owner_all);
  }
  int run(std::vector<std::string> arguments) {
    // The scripts need programs that a sandbox has not: it is tried in
    // tests/functional/local_sandbox_test.py.
    const std::vector<std::string> before{"run-local", directory,      "-o",
                                          out,         "--unconfined", local::unconfined_words};
    arguments.insert(arguments.begin(), before.begin(), before.end());
    return world.run(arguments);
  }
  // An input whose presence makes the scripts do something.
  std::string flag(const std::string& name) { return name + "=" + world.write("flag", "x").string(); }
  std::vector<std::string> left_over() const {
    return std::filesystem::exists(out) ? io::real_files().list(out).value() : std::vector<std::string>{};
  }
};

// The combined file of 20 squares: framed as segments are.
std::string squares() {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const std::string item = std::to_string(i * i);
    text += std::string{static_cast<char>(item.size()), 0, 0, 0} + item;
  }
  return text;
}

}  // namespace

TEST_CASE("units are sized by the server's strategies, and cover all items once", "[local]") {
  for (const std::string strategy :
       {"gleaner", "gss,mode=paper", "static", "wis", "rts", "fac2", "awf-b", "af", "tss"}) {
    for (const int kernels : {1, 2, 3, 64}) {
      INFO(strategy << " for " << kernels);
      auto made = local::sized_units(strategy, 1000, kernels);
      REQUIRE(made.ok());
      local::UnitSource& source = **made;
      std::int64_t covered = 0;
      for (int kernel = 0; !source.exhausted(); kernel = (kernel + 1) % kernels) {
        const Range unit = source.next(kernel);
        REQUIRE(unit.begin == covered);
        REQUIRE_FALSE(unit.empty());
        covered = unit.end;
        source.finished(kernel, unit.size(), std::chrono::milliseconds{10} * unit.size());
      }
      CHECK(covered == 1000);
      CHECK(source.next(0).empty());
    }
  }
  CHECK(local::sized_units("gss,mode=paper", 640, 4).value()->next(0).size() == 160);
  CHECK(local::sized_units("no-such", 640, 4).error().kind == ErrorKind::invalid);
}

TEST_CASE("a scripted bundle runs here, the same with any number of kernels", "[local]") {
  for (const std::string jobs : {"1", "2", "5"}) {
    Bundle bundle;
    REQUIRE(bundle.run({"--jobs", jobs}) == 0);
    CHECK(bundle.world.out == bundle.out + "/squares\n");
    CHECK(bundle.world.read(bundle.out + "/squares") == squares());
    CHECK(bundle.left_over() == std::vector<std::string>{"squares"});
    CHECK(bundle.world.error.find("20 items") != std::string::npos);
  }
}

TEST_CASE("stages follow each other, with the files of the one before", "[local]") {
  Bundle bundle;
  REQUIRE(bundle.run({"--param", "stages=2", "--json", "--jobs", "2"}) == 0);
  const json::Value document = json::parse_or_null(bundle.world.out);
  CHECK(document["stages"].size() == 2);
  CHECK(document["stages"][0]["computed"].integer() == 20);
  CHECK(document["results"][0]["bytes"].integer() == 2 * (4 + 3));
  const std::string length = std::to_string(squares().size());
  REQUIRE(length.size() == 3);
  const std::string item = std::string{3, 0, 0, 0} + length;
  CHECK(bundle.world.read(bundle.out + "/squares") == item + item);
}

TEST_CASE("what goes wrong is told in the programs' own words", "[local]") {
  Bundle bundle;
  SECTION("the manager refuses the parameters") {
    CHECK(bundle.run({"--param", "refuse=true"}) == 1);
    CHECK(bundle.world.error.find("refuse: I do") != std::string::npos);
  }
  SECTION("the kernel dies") {
    CHECK(bundle.run({"--input", bundle.flag("fail"), "--jobs", "1"}) == 1);
    CHECK(bundle.world.error.find("cosmic rays") != std::string::npos);
    CHECK(bundle.world.error.find("item 5 of stage 0") != std::string::npos);
  }
  SECTION("the kernel says that it cannot") {
    CHECK(bundle.run({"--input", bundle.flag("error"), "--jobs", "1"}) == 1);
    CHECK(bundle.world.error.find("item 5 is too hard") != std::string::npos);
  }
  SECTION("the manager does not like a result") {
    CHECK(bundle.run({"--input", bundle.flag("wrong"), "--jobs", "1"}) == 1);
    CHECK(bundle.world.error.find("items 0 to 19") != std::string::npos);
    CHECK(bundle.world.error.find("looks odd") != std::string::npos);
  }
  SECTION("the kernel is no program") {
    bundle.script("kernel.sh", "#!/no/such/interpreter\n");
    CHECK(bundle.run({}) != 0);
    CHECK_FALSE(bundle.world.error.empty());
  }
  SECTION("there is no such input, no such bundle, no kernel for this machine") {
    CHECK(bundle.run({"--input", "a=/no/such/file"}) == 4);
    CHECK(bundle.world.run({"run-local", "/no/such/bundle", "-o", bundle.out}) == 4);
    bundle.world.write(
        "bundle/manifest.toml",
        "manifest = 1\nname = \"squares\"\nversion = \"1\"\ntitle = \"Squares\"\n[kernel]\n"
        "vax-vms = \"kernel.sh\"\n[manager]\nprogram = \"manager.sh\"\n[items]\nmeaning = \"x\"\n");
    CHECK(bundle.run({}) == 4);
    CHECK(bundle.world.error.find(local::this_platform()) != std::string::npos);
  }
  CHECK(bundle.left_over().empty());
}

TEST_CASE("a manager that has enough ends the stage", "[local]") {
  Bundle bundle;
  REQUIRE(bundle.run({"--input", bundle.flag("enough"), "--jobs", "4", "--json", "--keep"}) == 0);
  const json::Value document = json::parse_or_null(bundle.world.out);
  const json::Value& stage = document["stages"][0];
  CHECK(stage["computed"].integer() < 20);
  CHECK(bundle.world.error.find("kept the work directory") != std::string::npos);
}

TEST_CASE("a kernel that hangs is found out by its items' time", "[local]") {
  Bundle bundle;
  Outside outside = bundle.world.outside();
  // Waiting for output costs real milliseconds; the clock that judges is the fake one.
  local::LocalProblem problem;
  problem.bundle = bundle.directory;
  problem.content.parameters = "{}";
  problem.content.inputs = {{"hang", bundle.world.write("flag", "x")}};
  problem.work = bundle.world.directory / "work";
  problem.jobs = 1;
  int turns = 0;
  const local::Confinement none = local::Confinement::none();
  const local::LocalWorld world{outside.files,
                                outside.processes,
                                bundle.world.clock,
                                none,
                                [&](const local::LocalProgress&) {
                                  if (++turns == 3) bundle.world.clock.advance(std::chrono::seconds{61});
                                },
                                {},
                                outside.interrupted};
  const auto result = local::run_locally(problem, world);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message.find("item_seconds") != std::string::npos);
}

TEST_CASE("Control-C ends the run and leaves nothing", "[local]") {
  Bundle bundle;
  bundle.world.interrupt_after_waits = 0;
  CHECK(bundle.run({"--jobs", "1"}) == 1);
  CHECK(bundle.world.error.find("interrupted") != std::string::npos);
  CHECK(bundle.left_over().empty());
}

TEST_CASE("the built bundles run here", "[local]") {
  struct Case {
    const char* name;
    std::vector<std::string> parameters;
  };
  for (const Case& each :
       {Case{"mandelbrot", {"--param", "width=64", "--param", "height=64"}},
        Case{"raytrace", {"--param", "scene=A", "--param", "width=32", "--param", "height=24"}}}) {
    const io::Path directory = io::Path(GLEANER_BUNDLES_DIRECTORY) / each.name;
    const bool built = std::filesystem::exists(directory / "manifest.toml") &&
                       std::filesystem::exists(directory / "bin" / (std::string(each.name) + "-kernel")) &&
                       std::filesystem::exists(directory / "bin" / (std::string(each.name) + "-manager"));
    INFO(each.name << " is to be built: without it this tests nothing");
    REQUIRE(built);
    std::vector<std::string> digests;
    for (const std::string jobs : {"1", "3"}) {
      TestWorld world;
      std::vector<std::string> arguments{"run-local",
                                         directory.string(),
                                         "-o",
                                         (world.directory / "out").string(),
                                         "--json",
                                         "--jobs",
                                         jobs,
                                         "--unconfined",
                                         local::unconfined_words};
      arguments.insert(arguments.end(), each.parameters.begin(), each.parameters.end());
      const int code = world.run(arguments);
      INFO(world.error);
      REQUIRE(code == 0);
      const json::Value document = json::parse_or_null(world.out);
      digests.push_back(document["results"][0]["digest"].string());
    }
    CHECK(digests.front() == digests.back());
  }
}

TEST_CASE("a program that was linked on a newer system than a volunteer's is told apart", "[libraries]") {
  TestWorld world;
  const auto read = io::real_files().read("/bin/sh", 1 << 26);
  REQUIRE(read.ok());
  Bytes program = *read;
  const auto versions = sandbox::needed_versions(program);
  const auto newest = std::find_if(versions.begin(), versions.end(),
                                   [](const auto& each) { return each.version.size() == 10; });
  REQUIRE(newest != versions.end());  // "GLIBC_2.34"
  CHECK(newest->library == "libc.so.6");
  const io::Path bundle = world.directory / "bundle";
  std::filesystem::create_directories(bundle);
  const auto needs = [&] {
    std::ofstream(bundle / "kernel", std::ios::binary) << program;
    auto read_needs = local::system_needs(io::real_files(), bundle, {});
    REQUIRE(read_needs.ok());
    return std::move(read_needs).value();
  };
  CHECK(needs().newer.empty());
  CHECK(needs().missing.empty());
  CHECK(needs().glibc == "kernel");  // does not start on Alpine

  const std::size_t at = program.find(newest->version);
  REQUIRE(at != Bytes::npos);
  program.replace(at, 10, "GLIBC_2.38");
  const auto some = needs().newer;
  REQUIRE(some.size() == 2);
  CHECK((some[0].client && !some[1].client));
  CHECK(some[1].system == "Ubuntu 22.04 has 2.35");  // where there is no client
  CHECK(some[0].file == "kernel");
  CHECK(some[0].version == "GLIBC_2.38");
  CHECK(some[0].system == "Debian 12 has 2.36");
  program.replace(at, 10, "GLIBC_2.99");
  CHECK(needs().newer.size() == sandbox::systems.size());
  program.replace(at, 10, "GLIBC_2.+9");  // no number
  CHECK(needs().newer.empty());

  program.replace(at, 10, "GLIBC_2.99");
  std::ofstream(bundle / "libc.so.6") << "the bundle brings its own";
  CHECK(needs().newer.empty());
  CHECK(needs().glibc.empty());

  const std::size_t name = program.find("libc.so.6");
  REQUIRE(name != Bytes::npos);
  program.replace(name, 9, "libq.so.6");
  REQUIRE(needs().missing.size() == 1);
  CHECK(needs().missing[0].library == "libq.so.6");
  const auto of_manager = local::system_needs(io::real_files(), bundle, {"kernel"});
  REQUIRE(of_manager.ok());
  CHECK(of_manager->missing.empty());  // the operator may have it on the server
  REQUIRE(of_manager->on_server.size() == 1);
  CHECK(of_manager->on_server[0].library == "libq.so.6");
}

TEST_CASE("the libraries that a program needs are read, and what is no program has none", "[libraries]") {
  const auto read = io::real_files().read("/bin/sh", 1 << 26);
  REQUIRE(read.ok());
  const Bytes& whole = *read;
  const auto needed = sandbox::needed_libraries(whole);
  CHECK(std::find(needed.begin(), needed.end(), "libc.so.6") != needed.end());
  CHECK(sandbox::needed_loader(whole).starts_with("/lib"));
  CHECK(sandbox::needed_loader(whole.substr(0, 100)).empty());
  CHECK(sandbox::needed_libraries("#!/bin/sh\n").empty());
  CHECK(sandbox::needed_libraries("").empty());
  constexpr std::uint64_t seed = 20260101;
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    Bytes changed = whole.substr(0, static_cast<std::size_t>(random.between(0, std::ssize(whole))));
    for (int flips = 0; flips < 4 && !changed.empty(); ++flips) {  // in the head and its tables
      const std::int64_t place = random.between(0, std::min<std::int64_t>(std::ssize(changed), 1024) - 1);
      changed[static_cast<std::size_t>(place)] = static_cast<char>(random.between(0, 255));
    }
    CHECK(sandbox::needed_libraries(changed).size() <= 1000);
    CHECK(sandbox::needed_versions(changed).size() <= 1000);
  }
}

}  // namespace gleaner::admin

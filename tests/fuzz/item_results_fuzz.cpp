// What hosts deliver, as each bundled application's manager sees it. The first byte says which application,
// the second which item; the rest is that item's bytes (third byte even) or a whole segment (odd). Whatever
// comes is valid, invalid in a sentence, or enough; and what was valid can be looked at in a preview.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>

#include "apps/dlog/dlog_manager.h"
#include "apps/dsearch/dsearch_manager.h"
#include "apps/hologram/hologram_manager.h"
#include "apps/mandelbrot/mandelbrot_manager.h"
#include "apps/passwords/passwords_manager.h"
#include "apps/photons/photons_manager.h"
#include "apps/raytrace/raytrace_manager.h"
#include "apps/tsp/tsp_manager.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
namespace fs = std::filesystem;

namespace {

class Quiet final : public kit::Output {
 public:
  fs::path directory() const override { return "preview-0"; }
  void progress(double fraction) override { CHECK_TRUE(fraction >= 0 && fraction <= 1); }
  void result(const std::string& name, const std::string&) override { CHECK_TRUE(!name.empty()); }
};

void put(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The working directory until it ends.
class Inside {
 public:
  explicit Inside(const fs::path& directory) { enter(directory); }
  ~Inside() { enter(before_); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  static void enter(const fs::path& directory) { CHECK_TRUE(::chdir(directory.c_str()) == 0); }
  const fs::path before_ = fs::current_path();
};

// A small problem, planned.
class Application {
 public:
  Application(fs::path directory, std::unique_ptr<kit::Manager> manager, const char* parameters)
      : directory_(std::move(directory)), manager_(std::move(manager)) {
    const fs::path problem = directory_ / "problem";
    fs::create_directories(problem / "inputs");
    put(problem / "parameters.json", parameters);
    put(problem / "inputs" / "query", ">q\nMKVLAAGIVGLCAKAYE\n");
    put(problem / "inputs" / "database",
        ">a\nMKVLAAGIVGLCARAYD\n>b\nGGHWSRTPLLEDNQ\n>c\nMKILSAGVVGLNAKAFE\n");
    fs::create_directories(directory_ / "work" / "preview-0");
    const Inside inside(directory_ / "work");
    CHECK_TRUE(manager_->check(kit::Problem(problem)).ok());
    const auto stage = manager_->plan(0);
    CHECK_TRUE(stage.ok() && stage->has_value());
    items_ = (*stage)->items;
  }

  void check(int item, bool whole, std::string_view bytes) {
    const Inside inside(directory_ / "work");
    const Range range{item % items_, item % items_ + 1};
    Bytes segment(bytes);
    if (!whole) {
      segment.clear();
      kit::append_item(segment, bytes);
    }
    kit::SegmentReader reader(range, segment);
    const auto verdict = manager_->validate(0, reader);
    if (!verdict.ok()) return CHECK_TRUE(!verdict.error().message.empty());
    using Verdict = kit::Validation::Verdict;
    if (verdict->verdict == Verdict::invalid) CHECK_TRUE(!verdict->reason.empty());
    if (verdict->verdict != Verdict::valid || !reader.framing().ok()) return;
    put("segment", segment);
    put("list", std::to_string(range.begin) + " " + std::to_string(range.end) + " " +
                    std::to_string(range.begin) + " segment\n");
    auto source = kit::ItemSource::open("list");
    if (!source.ok()) std::fprintf(stderr, "%s\n", source.error().message.c_str());
    CHECK_TRUE(source.ok());
    Quiet output;
    (void)manager_->preview(0, *source, output);
  }

 private:
  fs::path directory_;
  std::unique_ptr<kit::Manager> manager_;
  std::int64_t items_ = 0;
};

std::array<Application, 8>& applications() {
  static const fs::path root = fuzz::scratch("items");
  static std::array<Application, 8> all = {
      Application(root / "dlog", std::make_unique<dlog::DlogManager>(),
                  R"({"random_bits":40,"item_walks":20})"),
      Application(root / "dsearch", std::make_unique<dsearch::DsearchManager>(), "{}"),
      Application(root / "hologram", std::make_unique<hologram::HologramManager>(),
                  R"({"synthetic":"points","points":3,"background":1,"rows":64,"columns":64,)"
                  R"("distance_millimetres":-12})"),
      Application(root / "mandelbrot", std::make_unique<mandelbrot::MandelbrotManager>(),
                  R"({"width":16,"height":12,"iterations":200})"),
      Application(root / "passwords", std::make_unique<passwords::PasswordsManager>(),
                  R"({"digest":"sha1","generate":5,"maximum_length":3,"item_candidates":2000})"),
      Application(
          root / "photons", std::make_unique<photons::PhotonsManager>(),
          R"({"layers":"above 1; layer skin 1.4 1 90 0.8 0.1","photons":40,"item_photons":5,"radial_cells":2,"depth_cells":2,"angle_cells":2})"),
      Application(root / "raytrace", std::make_unique<raytrace::RaytraceManager>(),
                  R"({"scene":"A","width":8,"height":6})"),
      Application(root / "tsp", std::make_unique<tsp::TspManager>(), R"({"random_cities":7})"),
  };
  return all;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  applications()[data[0] % 8].check(data[1], data[2] % 2 == 1, fuzz::text_of(data + 3, size - 3));
  return 0;
}

#include "tests/unit/apps/application.h"

#include <algorithm>
#include <sstream>

#include "apps/kit/segments.h"
#include "shared/base/random.h"
#include "tests/catch.h"

namespace gleaner::test {
namespace {

const std::filesystem::path bundles = GLEANER_BUNDLE_DIRECTORY;

std::string segment_of(Range range, const Items& items) {
  std::string segment;
  for (std::int64_t i = range.begin; i < range.end; ++i) kit::append_item(segment, items.at(i));
  return segment;
}

std::vector<Range> division(std::int64_t items, std::int64_t parts, Random& random) {
  std::vector<std::int64_t> cuts{0, items};
  for (std::int64_t i = 1; i < parts; ++i) cuts.push_back(random.between(0, items));
  std::sort(cuts.begin(), cuts.end());
  std::vector<Range> ranges;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] < cuts[i + 1]) ranges.push_back({cuts[i], cuts[i + 1]});
  }
  return ranges;
}

void shuffle(std::vector<Range>& ranges, Random& random) {
  for (std::size_t i = ranges.size(); i > 1; --i) std::swap(ranges[i - 1], ranges[random.below(i)]);
}

void check_refusals(Application& application, const Items& all, Random& random) {
  for (int i = 0; i < 5; ++i) {
    const std::int64_t item = random.between(0, application.items() - 1);
    const Range range{item, item + 1};
    const std::string& good = all.at(item);
    INFO("item " << item);
    if (!good.empty())
      CHECK(application.validate(range, {{item, good.substr(0, good.size() - 1)}}).starts_with("invalid "));
    CHECK(application.validate(range, {{item, good + '\0'}}).starts_with("invalid "));
    CHECK(application.validate(range, {{item, std::string()}}).starts_with("invalid "));
    const std::int64_t other = item > 0 ? item - 1 : application.items() - 1;
    if (all.at(other) != good)
      CHECK(application.validate(range, {{item, all.at(other)}}).starts_with("invalid "));
  }
  const std::int64_t beyond = application.items();
  CHECK(application.validate({beyond, beyond + 1}, {{beyond, all.at(0)}}).starts_with("invalid "));
}

}  // namespace

Application::Application(const std::string& bundle, const std::string& parameters, const Files& inputs)
    : bundle_(bundle) {
  directory_.problem(parameters, inputs);
  manager_ = start(bundle_ + "-manager", {});
}

std::unique_ptr<Peer> Application::start(const std::string& program,
                                         const std::vector<std::string>& environment) {
  auto peer = std::make_unique<Peer>(std::vector<std::string>{bundles / bundle_ / "bin" / program},
                                     directory_.path(), environment);
  REQUIRE(peer->ask("gleaner 1").starts_with("ready 1"));
  REQUIRE(peer->ask("problem " + (directory_.path() / "problem").string()) == "ok");
  return peer;
}

std::string Application::plan(int stage) {
  stage_ = stage;
  std::string all;
  for (std::string line = manager_->ask("plan " + std::to_string(stage));; line = manager_->read_line()) {
    all += line + "\n";
    std::istringstream words(line);
    std::string word, name, path;
    words >> word >> name >> path;
    if (word == "items") items_ = std::stoll(name);
    if (word == "input")
      write_text(directory_.path() / "problem" / "inputs" / name, read_text(directory_.path() / path));
    if (word == "ok" || word == "end" || word == "error" || word == "<end>") return all;
  }
}

Items Application::compute(Range range, const std::vector<std::string>& environment) {
  const auto kernel = start(bundle_ + "-kernel", environment);
  kernel->send("unit " + std::to_string(stage_) + " " + std::to_string(range.begin) + " " +
               std::to_string(range.end) + "\n");
  Items items;
  REQUIRE(kernel->collect(items) == "done " + std::to_string(range.end));
  REQUIRE(static_cast<std::int64_t>(items.size()) == range.size());
  kernel_memory_ = std::max(kernel_memory_, kernel->peak_memory());
  return items;
}

std::int64_t Application::promised_memory() const {
  const std::string manifest = read_text(bundles / bundle_ / "manifest.toml");
  const std::string key = "memory_megabytes = ";
  const std::size_t at = manifest.find(key);
  REQUIRE(at != std::string::npos);
  return std::stoll(manifest.substr(at + key.size())) << 20;
}

std::string Application::validate(Range range, const Items& items) {
  const std::string segment = segment_of(range, items);
  manager_->send("validate " + std::to_string(stage_) + " " + std::to_string(range.begin) + " " +
                 std::to_string(range.end) + " " + std::to_string(segment.size()) + "\n" + segment);
  return manager_->read_line();
}

Files Application::combine(const Items& items, std::vector<Range> pieces, const std::string& how) {
  std::sort(pieces.begin(), pieces.end());
  std::string list;
  for (const Range piece : pieces) {
    const std::string name = "segment-" + std::to_string(piece.begin);
    write_text(directory_.path() / name, segment_of(piece, items));
    list += std::to_string(piece.begin) + " " + std::to_string(piece.end) + " " +
            std::to_string(piece.begin) + " " + name + "\n";
  }
  write_text(directory_.path() / "list", list);
  manager_->send(how + " " + std::to_string(stage_) + " list\n");
  Files files;
  for (;;) {
    const std::string line = manager_->read_line();
    std::istringstream words(line);
    std::string word, name, path;
    words >> word >> name >> path;
    if (word == "result") files[name] = read_text(directory_.path() / path);
    if (word == "ok") return files;
    INFO(line);
    REQUIRE((word == "result" || word == "progress"));
  }
}

Files Application::combined_files() const {
  Files files;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory_.path() / ("stage-" + std::to_string(stage_))))
    files[entry.path().filename()] = read_text(entry.path());
  return files;
}

void Application::restart_manager() {
  manager_->send("quit\n");
  REQUIRE(manager_->exit_status() == 0);
  manager_ = start(bundle_ + "-manager", {});
}

namespace {

void check_stage(Application& application, Random& random) {
  const std::int64_t count = application.items();
  const Items all = application.compute({0, count});
  for (const char* level : {"GLEANER_CPU=baseline", "GLEANER_CPU=avx2"})
    REQUIRE((application.compute({0, count}, {level}) == all));

  Files expected;
  for (const std::int64_t parts : {1, 2, 7}) {
    std::vector<Range> order = division(count, parts, random);
    shuffle(order, random);
    order.push_back(order.front());  // a duplicate
    Items items;
    for (const Range range : order) {
      for (auto& [item, bytes] : application.compute(range)) {
        REQUIRE((bytes == all.at(item)));
        items[item] = bytes;
      }
      CHECK(application.validate(range, items) == "valid");
      if (parts > 1 && random.chance(0.5)) application.restart_manager();
    }
    REQUIRE(static_cast<std::int64_t>(items.size()) == count);
    order.pop_back();
    Files files = application.combine(items, order);
    files.merge(application.combined_files());
    REQUIRE_FALSE(files.empty());
    if (expected.empty()) expected = files;
    REQUIRE(files.size() == expected.size());
    for (const auto& [name, bytes] : files) {
      INFO(name);
      CHECK((bytes == expected.at(name)));
    }
  }
  check_refusals(application, all, random);
  CHECK_FALSE(application.combine(all, {{count / 2, count / 2 + 1}}, "preview").empty());
}

}  // namespace

void check_properties(const Properties& properties) {
  INFO("seed " << properties.seed << ", " << properties.bundle << " " << properties.parameters);
  Random random(properties.seed);
  Application application(properties.bundle, properties.parameters, properties.inputs);
  for (int stage = 0;; ++stage) {
    const std::string plan = application.plan(stage);
    INFO("stage " << stage << ": " << plan);
    if (stage > 0 && plan == "end\n") break;
    REQUIRE(plan.ends_with("ok\n"));
    check_stage(application, random);
#ifndef GLEANER_SANITIZED  // a sanitizer takes several times as much
    CHECK(application.kernel_memory() <= application.promised_memory());
#endif
  }
}

std::string complaint(const std::string& bundle, const std::string& parameters, const Files& inputs) {
  TemporaryDirectory directory;
  const std::string problem = directory.problem(parameters, inputs).string();
  Peer manager({bundles / bundle / "bin" / (bundle + "-manager")}, directory.path());
  REQUIRE(manager.ask("gleaner 1").starts_with("ready 1"));
  return manager.ask("problem " + problem);
}

}  // namespace gleaner::test

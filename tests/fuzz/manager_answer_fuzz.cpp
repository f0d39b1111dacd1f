// What a manager answers to `plan` ('p' first) and `combine`: no file outside its directory is ever named.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "shared/base/limits.h"
#include "shared/contract/manager_answers.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::contract;

namespace {

// work/ with the files a and b/c, a link to the outside, and a file beside it.
class Place {
 public:
  Place() {
    root_ = std::filesystem::temp_directory_path() / ("gleaner-fuzz-answer-" + std::to_string(::getpid()));
    std::filesystem::create_directories(root_ / "work/b");
    root_ = std::filesystem::canonical(root_);
    for (const char* file : {"work/a", "work/b/c", "secret"}) std::ofstream(root_ / file) << "x";
    std::filesystem::create_symlink(root_ / "secret", root_ / "work/link");
    std::filesystem::create_symlink(root_, root_ / "work/up");
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { std::filesystem::remove_all(root_); }
  [[nodiscard]] io::Path work() const { return root_ / "work"; }
  void check(const io::Path& path) const {
    CHECK_TRUE(path == root_ / "work/a" || path == root_ / "work/b/c");
  }

 private:
  io::Path root_;
};

template <typename Answer>
void hear(Answer& answer, std::string_view text) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    const Hearing hearing = answer.take(text.substr(0, end));
    if (const auto* fault = std::get_if<Fault>(&hearing)) return CHECK_TRUE(!fault->expected.empty());
    if (std::get<Heard>(hearing) == Heard::end) return;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Place place;
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  if (data[0] == 'p') {
    PlanAnswer answer(place.work());
    hear(answer, text);
    const StagePlan& plan = answer.plan();
    CHECK_TRUE(plan.items >= 0 && plan.items <= limits::items_max);
    CHECK_TRUE(plan.name.size() <= static_cast<std::size_t>(limits::name_length_max));
    if (!plan.hints.empty()) place.check(plan.hints);
    for (const auto& input : plan.inputs) {
      place.check(input.path);
      CHECK_TRUE(is_file_name(input.name));
    }
  } else {
    CombineAnswer answer(place.work());
    hear(answer, text);
    CHECK_TRUE(answer.fraction() >= 0 && answer.fraction() <= 1);
    for (const auto& file : answer.files()) {
      place.check(file.path);
      CHECK_TRUE(is_file_name(file.name));
    }
  }
  return 0;
}

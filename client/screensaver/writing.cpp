#include "client/screensaver/writing.h"

#include <fmt/format.h>

#include "shared/base/figures.h"

namespace gleaner::screensaver {
namespace {

// Manifests say what one item is: "one scan-line".
std::string items_text(std::int64_t count, std::string meaning) {
  if (meaning.starts_with("one ")) {
    meaning.erase(0, 4);
    if (count != 1 && meaning.find(' ') == std::string::npos) meaning += "s";
    if (count == 1 || meaning.find(' ') == std::string::npos)
      return fmt::format("{} {}", count_text(count), meaning);
  }
  return counted(count, "piece");
}

// The picture stays for a while when its problem is done; then it is not what the sentence speaks of.
bool is_of_before(const view::View& view) {
  bool others = false;
  for (const view::CoreView& core : view.cores) {
    if (core.problem == view.picture.problem) return false;
    others = others || (core.state == "running" && !core.problem.empty());
  }
  return others;
}

}  // namespace

Writing writing_of(const std::optional<view::View>& view) {
  Writing writing;
  if (!view) {
    writing.title = "Gleaner";
    writing.sentence = "Gleaner is not computing. Its picture will appear here.";
    return writing;
  }
  const view::PictureView& picture = view->picture;
  writing.title = view->project.empty() ? "Gleaner" : view->project;
  if (picture.width > 0) {
    writing.title = (is_of_before(*view) ? "Before: " : "") + picture.problem;
    if (!picture.application.empty()) writing.title += "  ·  " + picture.application;
    writing.here = items_text(picture.items, picture.meaning) + " computed on this computer";
  }
  writing.sentence = view->reason;
  if (view->given.year > 0) writing.so_far = "This computer gave " + view::text_of(view->given);
  if (view->project_items > 0) {
    writing.others =
        "All computers: " + percent_text(static_cast<double>(view->project_done_millionths), 1e6) + " done";
    if (view->project_hosts > 0) writing.others += ", by " + counted(view->project_hosts, "computer");
  }
  return writing;
}

}  // namespace gleaner::screensaver

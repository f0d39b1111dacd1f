#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "client/screensaver/view_source.h"

namespace gleaner::screensaver {
namespace {

// Fewer bytes where the file ends.
Bytes read_at(int descriptor, std::int64_t offset, std::int64_t size) {
  Bytes bytes(static_cast<std::size_t>(size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::pread(descriptor, bytes.data() + have, bytes.size() - have,
                                offset + static_cast<std::int64_t>(have));
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

ViewSource::~ViewSource() {
  close();
}

void ViewSource::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  pixels_.clear();  // the next client counts its pictures from one again
}

bool ViewSource::open() {
  for (const std::string& path : paths_) {
    // Not a pipe that would make us wait.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts {};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode)) return true;
    close();
  }
  return false;
}

bool ViewSource::look() {
  struct stat facts {};
  // A client that ended removed its file; the next one makes another.
  if (descriptor_ >= 0 && (::fstat(descriptor_, &facts) != 0 || facts.st_nlink == 0)) close();
  if (descriptor_ < 0 && !open()) {
    const bool changed = view_.has_value();
    view_.reset();
    head_.clear();
    pixels_.clear();
    return changed;
  }
  Bytes head = read_at(descriptor_, 0, view::head_bytes);
  if (head == head_) return false;
  auto parsed = view::parse_head(head);
  if (!parsed.ok()) return false;  // being written, or not for us: what was seen last stays
  head_ = std::move(head);
  const bool same_pixels = view_ && view_->picture.number == parsed->picture.number &&
                           view_->picture.change == parsed->picture.change && !pixels_.empty();
  view_ = std::move(*parsed);
  if (!same_pixels) pixels_ = read_at(descriptor_, view::head_bytes, view::picture_bytes(view_->picture));
  return true;
}

std::vector<std::string> usual_views() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  std::vector<std::string> paths{"/run/gleaner-client/view"};
  if (const std::string data = variable("XDG_DATA_HOME"); !data.empty())
    paths.push_back(data + "/gleaner-client/view");
  if (const std::string home = variable("HOME"); !home.empty())
    paths.push_back(home + "/.local/share/gleaner-client/view");
  paths.emplace_back("/var/lib/gleaner-client/view");
  return paths;
}

}  // namespace gleaner::screensaver

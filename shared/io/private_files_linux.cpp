#include "shared/io/private_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <system_error>

namespace gleaner::io {
namespace {

constexpr mode_t of_owner = 0700, of_all = 0777, of_others = 0077, of_world = 0007;

std::string mode_text(const struct stat& facts) {
  std::ostringstream text;
  text << "mode " << std::oct << (facts.st_mode & of_all);
  return text.str();
}

bool is_open(const struct stat& facts) {
  return (facts.st_mode & (facts.st_uid == ::geteuid() ? of_others : of_world)) != 0;
}

void close_files(const Path& directory) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat facts {};
    const std::string path = entry->path().string();
    if (::lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && is_open(facts))
      (void)::chmod(path.c_str(), facts.st_mode & of_owner);  // the directory is what keeps others out
  }
}

}  // namespace

void make_private_files() {
  ::umask(of_others);
}

void make_readable_files() {
  ::umask(0022);
}

std::string close_to_others(const Path& directory) {
  struct stat facts {};
  if (::stat(directory.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return {};
  const std::string place = directory.string();
  if (is_open(facts) && ::chmod(directory.c_str(), facts.st_mode & of_owner) != 0)
    return "other users of this computer may reach " + place + " (" + mode_text(facts) +
           "), which holds secrets, and it cannot be closed to them (" +
           std::generic_category().message(errno) + "): run `chmod 700 " + place + "` as its owner";
  close_files(directory);
  if (!is_open(facts)) return {};
  return place + " was open to other users of this computer (" + mode_text(facts) +
         "); it is closed to them now (mode 700)";
}

}  // namespace gleaner::io

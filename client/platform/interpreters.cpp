#include "client/platform/interpreters.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "shared/base/capability.h"
#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/sandbox/runtime_files.h"

namespace gleaner::platform {
namespace {

constexpr std::size_t answer_bytes_max = 4096;
constexpr Duration glance = std::chrono::milliseconds{5};

// The modules are those that many functions import and that are large as wheels. Their versions are those
// that their packages state: to import them takes seconds. An application that needs others says
// python-packages: kernels then find whatever is installed.
constexpr const char* script = R"(#!/usr/bin/python3
import os
import sys
from importlib import util

print("python %d.%d" % sys.version_info[:2])
print("python-packages")
try:
    print(os.confstr("CS_GNU_LIBC_VERSION"))
except (AttributeError, OSError, ValueError):
    pass  # another C library
for name in ("numpy", "pandas", "scipy"):
    spec = util.find_spec(name)
    if spec is None or spec.origin is None:  # a directory that a removed package left
        continue
    try:
        from importlib.metadata import version
        print(name, ".".join(version(name).split(".")[:2]))
    except Exception:  # its package states none, or is damaged: Python is there all the same
        print(name)
)";

std::vector<std::string> capabilities_in(const Bytes& answer) {
  std::set<std::string> all;
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);)
    if (parse_capability(line).ok() && all.size() < static_cast<std::size_t>(limits::capabilities_max))
      all.insert(line);
  return {all.begin(), all.end()};
}

}  // namespace

Interpreters::Interpreters(host::Launcher& launcher, io::Files& files, io::Path place, int slot,
                           io::Path root)
    : launcher_(launcher), files_(files), place_(std::move(place)), root_(std::move(root)) {
  launch_.slot = slot;
  launch_.bundle_directory = place_ / "bundle";
  launch_.problem_directory = place_ / "problem";
  launch_.slot_directory = place_ / "slot";
  launch_.program = launch_.bundle_directory / "interpreters.py";
  launch_.memory_bytes = 256 << 20;
  launch_.disk_bytes = 1 << 20;
  launch_.runtime = sandbox::Runtime::modules;
}

Interpreters::~Interpreters() {
  process_.reset();
  (void)files_.remove_all(place_);  // what stays is removed by the next start()
}

Status Interpreters::start() {
  if (const std::string refusal = launcher_.refusal(); !refusal.empty()) return Error{ErrorKind::io, refusal};
  answer_.clear();
  TRY(files_.remove_all(place_));
  for (const io::Path& directory :
       {launch_.bundle_directory, launch_.problem_directory, launch_.slot_directory})
    TRY(files_.make_directories(directory));
  TRY(files_.write(launch_.program, script, io::Mode::executable));
  stamp_ = stamp();
  TRY_ASSIGN(process_, launcher_.start(launch_));
  process_->close_input();
  return {};
}

// All that a kernel in Python would see, and the directories in which packages are installed.
std::string Interpreters::stamp() const {
  std::ostringstream text;
  for (const sandbox::RuntimeFile& file : sandbox::runtime_files(launch_.program, launch_.runtime, root_)) {
    const io::Path here = root_ / file.path.relative_path();
    for (const io::Path& path : {here, here / "dist-packages", here / "site-packages"}) {
      std::error_code absent;
      const auto changed = std::filesystem::last_write_time(path, absent);
      if (!absent) text << utf8_text(path) << ' ' << changed.time_since_epoch().count() << '\n';
    }
  }
  return std::move(text).str();
}

// True once the script has ended, and nothing is to be heard of it any more.
bool Interpreters::answered(SteadyTime now) {
  const auto exit = process_->poll_exit();  // before the rest is read: afterwards nothing can come
  while (answer_.size() < answer_bytes_max &&
         process_->read_some(answer_, answer_bytes_max - answer_.size()) == io::ReadKind::data) {
  }
  if (!exit && now - started_ < patience) return false;
  const bool well = exit && exit->well();
  if (!well) answer_.clear();
  again_ = well ? SteadyTime::max() : now + pause;
  process_.reset();
  return true;
}

bool Interpreters::changed(SteadyTime now) {
  if (now < stamp_again_) return false;
  stamp_again_ = now + stamp_interval;
  return stamp() != stamp_;
}

bool Interpreters::look(SteadyTime now) {
  const std::vector<std::string> before = capabilities_;
  if (process_ != nullptr) {
    if (answered(now)) capabilities_ = capabilities_in(answer_);
  } else if (stamp_.empty() || now >= again_ || changed(now)) {
    again_ = SteadyTime::max();
    started_ = now;
    if (!start().ok()) {  // no interpreter, no sandbox, or a full disk
      capabilities_.clear();
      again_ = now + pause;
    }
  }
  return capabilities_ != before;
}

void Interpreters::wait(Clock& clock, Duration most) {
  const SteadyTime end = clock.steady() + most;
  look(clock.steady());
  while (process_ != nullptr && clock.steady() < end) {
    std::this_thread::sleep_for(glance);
    look(clock.steady());
  }
}

}  // namespace gleaner::platform

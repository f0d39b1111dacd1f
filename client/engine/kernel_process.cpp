#include "client/engine/kernel_process.h"

#include <algorithm>

#include "client/engine/excess.h"
#include "client/engine/set_aside.h"
#include "shared/base/capability.h"
#include "shared/base/paths.h"

namespace gleaner::engine {

io::Waitable KernelProcess::output_waitable() const {
  return session_ ? session_->process().output_waitable() : io::Waitable();
}

bool KernelProcess::serves(const Prepared& prepared, ProblemId problem) const {
  return session_ && launch_.bundle_directory == prepared.bundle_directory && problem_ == problem &&
         session_->idle();
}

Status KernelProcess::make_directory() {
  CHECK_TRUE(!session_);
  TRY(remove_or_set_aside(services_.files, services_.random, directory()));
  return services_.files.make_directories(directory());
}

Status KernelProcess::start(const Prepared& prepared, ProblemId problem) {
  CHECK_TRUE(!session_);
  TRY_ASSIGN(const std::string digest, digest_of_file(services_.files, prepared.kernel));
  if (digest != prepared.kernel_digest)
    return Error{ErrorKind::untrusted,
                 "the kernel " + utf8_text(prepared.kernel) + " was changed after it was unpacked"};
  host::KernelLaunch launch;
  launch.slot = slot_;
  launch.program = prepared.kernel;
  launch.bundle_directory = prepared.bundle_directory;
  launch.problem_directory = prepared.problem_directory.parent_path();
  launch.slot_directory = directory();
  const int wanted = prepared.manifest.threads == 0 ? services_.settings.cores : prepared.manifest.threads;
  launch.threads = std::clamp(wanted, 1, services_.settings.cores);
  launch.memory_bytes = prepared.manifest.memory_bytes;
  launch.disk_bytes = prepared.manifest.disk_bytes;
  const bool modules = name_modules(prepared.manifest.needs);
  launch.runtime = sandbox::kernel_runtime(modules);
  TRY_ASSIGN(std::unique_ptr<io::Process> process, services_.launcher.start(launch));
  launch_ = std::move(launch);
  tree_ = process->tree();
  threads_ = launch_.threads;
  services_.gate.add({tree_, threads_, services_.launcher.control_group(slot_)});
  session_ = std::make_unique<contract::KernelSession>(
      std::move(process), prepared.manifest.item_bytes,
      modules ? contract::Modules::declared : contract::Modules::undeclared);
  problem_ = problem;
  problem_directory_.clear();
  return {};
}

void KernelProcess::set_problem(const Prepared& prepared) {
  if (problem_directory_ == prepared.problem_directory) return;
  problem_directory_ = prepared.problem_directory;
  session_->set_problem(services_.launcher.inside(launch_, problem_directory_));
}

void KernelProcess::end() {
  if (!session_) return;
  services_.gate.remove(tree_);
  session_.reset();
  tree_ = {};
}

std::string KernelProcess::excess(const io::TreeUse& use) const {
  return engine::excess(launch_, use, tree_, services_.machine, services_.launcher);
}

}  // namespace gleaner::engine

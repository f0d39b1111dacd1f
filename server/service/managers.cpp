#include "server/service/managers.h"

#include <chrono>
#include <filesystem>

#include "shared/base/limits.h"

namespace gleaner::service {

struct Managers::Entry {
  std::mutex mutex;
  std::unique_ptr<contract::ManagerSession> session;
};

Managers::Managers(io::Files& files, io::ProcessRunner& runner, storage::BlobStore& blobs,
                   ProjectDirectory directory)
    : files_(files), runner_(runner), blobs_(blobs), directory_(std::move(directory)) {}

Managers::~Managers() = default;

Status Managers::with(const ManagerSetup& setup,
                      const std::function<Status(contract::ManagerSession&)>& use) {
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    auto& slot = entries_[setup.problem];
    if (!slot) slot = std::make_shared<Entry>();
    entry = slot;
  }
  const std::lock_guard lock(entry->mutex);
  if (!entry->session) {
    TRY(prepare(setup));
    entry->session = make_session(setup);
  }
  return use(*entry->session);
}

Result<std::vector<contract::CombinedFile>> Managers::preview(const ManagerSetup& setup, int stage,
                                                              const std::vector<contract::Piece>& pieces) {
  TRY(with(setup, [](contract::ManagerSession&) { return Status{}; }));  // the directories are written
  return make_session(setup)->preview(stage, pieces);
}

Status Managers::prepare(const ManagerSetup& setup) {
  const io::Path base = directory_.problem(setup.problem);
  const io::Path problem = base / "problem";
  const io::Path work = base / "work";
  TRY(files_.make_directories(problem / "inputs"));
  TRY(files_.make_directories(work));
  TRY(files_.write(problem / "parameters.json", setup.parameters, io::Mode::normal));
  for (const auto& input : setup.inputs) {
    const io::Path link = problem / "inputs" / input.name;
    std::error_code error;
    std::filesystem::remove(link, error);
    std::filesystem::create_symlink(std::filesystem::absolute(blobs_.path(input.digest)), link, error);
    if (error)
      return Error{ErrorKind::io,
                   "cannot link input " + input.name + " into " + problem.string() + ": " + error.message()};
  }
  return {};
}

std::unique_ptr<contract::ManagerSession> Managers::make_session(const ManagerSetup& setup) {
  const io::Path base = directory_.problem(setup.problem);
  const io::Path work = base / "work";
  io::ProcessSpec spec;
  const io::Path bundle = std::filesystem::absolute(directory_.bundle(setup.archive));
  spec.arguments = {(bundle / setup.program).string()};
  spec.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
  spec.working_directory = work;
  spec.limits.open_files = 1024;
  spec.limits.nice = 5;  // answering volunteers comes first
  return std::make_unique<contract::ManagerSession>(
      runner_, std::move(spec), std::filesystem::absolute(base / "problem"), std::filesystem::absolute(work),
      std::chrono::seconds{limits::manager_seconds_max});
}

void Managers::end(ProblemId problem, Keep keep) {
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = entries_.find(problem); found != entries_.end()) {
      entry = found->second;
      entries_.erase(found);
    }
  }
  if (entry) {
    const std::lock_guard lock(entry->mutex);
    entry->session.reset();
  }
  if (keep == Keep::no) (void)files_.remove_all(directory_.problem(problem));
}

}  // namespace gleaner::service

#include "server/service/core/managers.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>

#include "shared/base/limits.h"

namespace gleaner::service {

namespace {

// The same file under another name: what is there never changes.
Status link_or_copy(const io::Path& from, const io::Path& to) {
  std::error_code error;
  std::filesystem::remove(to, error);
  std::filesystem::create_hard_link(from, to, error);
  if (error) std::filesystem::copy_file(from, to, error);  // another file system, or too many names already
  if (!error) return {};
  return Error{ErrorKind::io,
               "cannot lay " + from.string() + " out as " + to.string() + ": " + error.message()};
}

// Segments in a directory that the manager sees; gone with this.
class LaidOut {
 public:
  LaidOut(io::Files& files, io::Path directory) : files_(files), directory_(std::move(directory)) {}
  ~LaidOut() { (void)files_.remove_all(directory_); }
  LaidOut(const LaidOut&) = delete;
  LaidOut& operator=(const LaidOut&) = delete;

  Result<std::vector<contract::Piece>> lay(std::vector<contract::Piece> pieces) {
    TRY(files_.remove_all(directory_));  // what a server that was killed left
    TRY(files_.make_directories(directory_));
    std::map<io::Path, io::Path> laid;
    for (auto& piece : pieces) {
      io::Path& place = laid[piece.path];
      if (place.empty()) {
        place = directory_ / std::to_string(laid.size());
        TRY(link_or_copy(piece.path, place));
      }
      piece.path = place;
    }
    return pieces;
  }

 private:
  io::Files& files_;
  io::Path directory_;
};

}  // namespace

struct Managers::Entry {
  std::mutex mutex;
  std::unique_ptr<contract::ManagerSession> session;
  std::vector<protocol::Input> inputs;  // that it has read
};

Managers::Managers(io::Files& files, io::ProcessRunner& runner, storage::BlobStore& blobs,
                   ProjectDirectory directory, const Configuration& configuration)
    : files_(files),
      runner_(runner),
      blobs_(blobs),
      directory_(std::filesystem::absolute(directory.root())),
      sandbox_(directory_, configuration, runner) {}

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
  if (entry->session && entry->inputs != setup.inputs) entry->session.reset();  // rows were appended
  if (!entry->session) {
    TRY(prepare(setup));
    TRY_ASSIGN(entry->session, make_session(setup));
    entry->inputs = setup.inputs;
  }
  return use(*entry->session);
}

Result<std::vector<contract::CombinedFile>> Managers::combine(const ManagerSetup& setup, int stage,
                                                              const std::vector<contract::Piece>& pieces,
                                                              const std::vector<contract::Origin>& origins) {
  std::vector<contract::CombinedFile> files;
  TRY(with(setup, [&](contract::ManagerSession& session) -> Status {
    LaidOut laid(files_, directory_.problem(setup.problem) / "problem" / "combine");
    TRY_ASSIGN(const auto seen, laid.lay(pieces));
    TRY_ASSIGN(files, session.combine(stage, seen, origins, {}));
    return {};
  }));
  return files;
}

Result<std::vector<contract::CombinedFile>> Managers::preview(const ManagerSetup& setup, int stage,
                                                              const std::vector<contract::Piece>& pieces,
                                                              const std::vector<contract::Origin>& origins) {
  TRY_ASSIGN(const auto session, second_session(setup));
  LaidOut laid(files_, directory_.problem(setup.problem) / "problem" / "preview");
  TRY_ASSIGN(const auto seen, laid.lay(pieces));
  return session->preview(stage, seen, origins);
}

Result<std::vector<Range>> Managers::failed(const ManagerSetup& setup, int stage,
                                            const std::vector<contract::Piece>& pieces) {
  TRY_ASSIGN(const auto session, second_session(setup));
  LaidOut laid(files_, directory_.problem(setup.problem) / "problem" / "preview");
  TRY_ASSIGN(const auto seen, laid.lay(pieces));
  return session->failed(stage, seen);
}

Result<io::HeldFile> Managers::open(ProblemId problem, const io::Path& file) const {
  std::error_code error;
  const io::Path base = std::filesystem::canonical(directory_.problem(problem), error);
  const io::Path place = std::filesystem::weakly_canonical(file.parent_path(), error);
  auto held = io::HeldFile::open_in(base, place.lexically_relative(base) / file.filename());
  if (!held.ok())
    return Error{ErrorKind::unavailable, "what the application's manager named cannot be read: " +
                                             file.string() + ": " + held.error().message};
  return *std::move(held);
}

Status Managers::prepare(const ManagerSetup& setup) {
  const io::Path base = directory_.problem(setup.problem);
  const io::Path problem = base / "problem";
  const io::Path work = base / "work";
  TRY(files_.make_directories(problem / "inputs"));
  TRY(files_.make_directories(work));
  TRY(files_.write(problem / "parameters.json", setup.parameters, io::Mode::normal));
  for (const auto& input : setup.inputs) {
    TRY_ASSIGN(const io::Path blob, blobs_.fetch(input.digest));
    TRY(link_or_copy(blob, problem / "inputs" / input.name));
  }
  return {};
}

Result<std::unique_ptr<contract::ManagerSession>> Managers::make_session(const ManagerSetup& setup) {
  const io::Path base = directory_.problem(setup.problem);
  TRY_ASSIGN(io::ProcessSpec spec, sandbox_.confine(setup));
  return std::make_unique<contract::ManagerSession>(
      runner_, std::move(spec), base / "problem", base / "work",
      std::chrono::seconds{limits::manager_seconds_max},
      [this, id = setup.problem](const io::Process& process) { return sandbox_.excess(id, process); });
}

Result<std::unique_ptr<contract::ManagerSession>> Managers::second_session(const ManagerSetup& setup) {
  TRY(with(setup, [](contract::ManagerSession&) { return Status{}; }));  // the directories are written
  return make_session(setup);
}

void Managers::look_at_rest() {
  std::vector<std::pair<ProblemId, std::shared_ptr<Entry>>> all;
  {
    const std::lock_guard lock(mutex_);
    all.assign(entries_.begin(), entries_.end());
  }
  for (const auto& [problem, entry] : all) {
    const std::unique_lock lock(entry->mutex, std::try_to_lock);
    if (!lock.owns_lock() || !entry->session) continue;  // it is asked something just now
    if (const Status rests = entry->session->look_at_rest(); !rests.ok())
      spdlog::warn("problem {}: {}: it was ended, and starts anew when it is needed", problem.value,
                   rests.error().message);
  }
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

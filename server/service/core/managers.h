// The manager processes of the problems: one each, confined (manager_sandbox.h), started on first use, used
// by one thread at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/service/core/manager_sandbox.h"
#include "server/service/core/manager_setup.h"
#include "server/service/core/project_directory.h"
#include "server/storage/blob_store.h"
#include "shared/bundle/manifest.h"
#include "shared/contract/manager_session.h"
#include "shared/io/held_file.h"
#include "shared/io/process.h"

namespace gleaner::service {

// Thread-safe; calls for one problem wait for each other.
class Managers {
 public:
  Managers(io::Files& files, io::ProcessRunner& runner, storage::BlobStore& blobs, ProjectDirectory directory,
           const Configuration& configuration);
  ~Managers();
  // Runs `use` with the problem's session; writes its directories first, if need be.
  [[nodiscard]] Status with(const ManagerSetup& setup,
                            const std::function<Status(contract::ManagerSession&)>& use);
  [[nodiscard]] const ManagerSandbox& sandbox() const { return sandbox_; }
  // Has the problem's session combine the stage.
  [[nodiscard]] Result<std::vector<contract::CombinedFile>> combine(
      const ManagerSetup& setup, int stage, const std::vector<contract::Piece>& pieces,
      const std::vector<contract::Origin>& origins);
  // Has a process of its own show the items in hand, in the problem's directories; the session is free
  // meanwhile.
  [[nodiscard]] Result<std::vector<contract::CombinedFile>> preview(
      const ManagerSetup& setup, int stage, const std::vector<contract::Piece>& pieces,
      const std::vector<contract::Origin>& origins);
  // The same process, asked which of the items failed (ManagerSession::failed()).
  [[nodiscard]] Result<std::vector<Range>> failed(const ManagerSetup& setup, int stage,
                                                  const std::vector<contract::Piece>& pieces);
  // A file that one of them named, in the problem's directories, wherever a link put in its place may lead.
  [[nodiscard]] Result<io::HeldFile> open(ProblemId problem, const io::Path& file) const;
  // Once a second: what is not asked anything must stand still, and is killed if it does not.
  void look_at_rest();
  // Ends the process; deletes its directories if `remove`.
  enum class Keep { yes, no };
  void end(ProblemId problem, Keep keep);

 private:
  struct Entry;
  [[nodiscard]] Status prepare(const ManagerSetup& setup);
  [[nodiscard]] Result<std::unique_ptr<contract::ManagerSession>> make_session(const ManagerSetup& setup);
  // A process beside the problem's session, in its directories.
  [[nodiscard]] Result<std::unique_ptr<contract::ManagerSession>> second_session(const ManagerSetup& setup);
  io::Files& files_;
  io::ProcessRunner& runner_;
  storage::BlobStore& blobs_;
  ProjectDirectory directory_;
  const ManagerSandbox sandbox_;
  std::mutex mutex_;
  std::map<ProblemId, std::shared_ptr<Entry>> entries_;
};

}  // namespace gleaner::service

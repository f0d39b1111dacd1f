// How this server's managers are confined. A manager parses what strangers delivered, so it sees nothing but
// the application's bundle, the problem's own directory (both read only) and its working directory; it has no
// network, and its memory, processes, files and disk are limited. Built on shared/sandbox: namespaces where
// they can be had, else Landlock alone; where neither works no manager is started, unless server.toml accepts
// that in words. Thread-safe once made.
//
// Measured on two cores that others kept busy, 400 runs of mandelbrot's manager from start to its first `ok`:
// p50 13 ms bare, 64 ms confined (idle, bare: 1.5 ms). It is paid once for each problem, and each preview.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "server/service/core/manager_setup.h"
#include "server/service/core/project_directory.h"
#include "shared/io/process.h"
#include "shared/sandbox/confinement.h"

namespace gleaner::service {

class ManagerSandbox {
 public:
  // Tries what this system permits: some tens of milliseconds. `processes` must outlive it.
  ManagerSandbox(ProjectDirectory directory, const Configuration& configuration,
                 io::ProcessRunner& processes);

  // For the log; and why no manager is started, with what to do about it: empty if they are.
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] std::string refusal() const;

  // REQUIRES: the problem's directories are there, and no manager of the problem runs yet or one of the same
  // sandbox does. Errors: unavailable (refusal()), io. Where the disk alone was in the way when it was tried
  // (io), it is tried again.
  [[nodiscard]] Result<io::ProcessSpec> confine(const ManagerSetup& setup) const;
  // What the manager holds too much of, by contract::ManagerProcess::Watch; looked at once a second, so that
  // it may hold for so long what it writes meanwhile.
  [[nodiscard]] std::string excess(ProblemId problem, const io::Process& process) const;

 private:
  // With mutex_ held, but in the constructor.
  void look() const;
  [[nodiscard]] std::string attempt(const sandbox::Walls& walls) const;
  [[nodiscard]] std::string refusal_of_found() const;
  [[nodiscard]] io::ProcessSpec spec_for(const io::Path& work) const;
  [[nodiscard]] io::ProcessSpec confined_spec(const sandbox::Walls& walls, sandbox::Confined confined) const;
  [[nodiscard]] Status give_to_its_user(const io::Path& work, std::int64_t number) const;

  ProjectDirectory directory_;
  std::int64_t memory_bytes_;
  std::int64_t disk_bytes_;
  std::int64_t reserve_bytes_;
  bool off_;
  bool superuser_;
  sandbox::Tools tools_;
  io::ProcessRunner& processes_;
  mutable std::mutex mutex_;  // of what follows; once there are walls, they stay
  mutable sandbox::Found found_;
  mutable bool disk_in_the_way_ = false;
};

}  // namespace gleaner::service

// Facts about this machine. Implemented in client/platform (machine_facts_linux.cpp). Thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/files.h"
#include "shared/io/process_tree.h"
#include "shared/sandbox/usage.h"

namespace gleaner::host {

using sandbox::DescriptorUse;
using sandbox::DirectoryUsage;

// Since the computer started, of all its processors together, in the system's ticks. 0 of 0: unknown.
struct ProcessorTime {
  std::int64_t busy = 0, all = 0;
};

class Machine {
 public:
  virtual ~Machine() = default;
  // That this process may use, affinity, cpusets and quota of its control groups counted; a part of one is
  // one.
  [[nodiscard]] virtual int cores() const = 0;
  [[nodiscard]] virtual int computer_cores() const { return cores(); }  // that are there
  // Processors' worth of time that control groups allow this process; infinite without a quota.
  [[nodiscard]] virtual double quota() const { return std::numeric_limits<double>::infinity(); }
  // The computer's, or less where control groups allow less.
  [[nodiscard]] virtual std::int64_t memory_bytes() const = 0;
  [[nodiscard]] virtual std::string host_name() const = 0;
  // Digest of the machine's id, different for every project so that it cannot be traced between them.
  [[nodiscard]] virtual std::string machine_digest(const std::string& project) const = 0;
  // What can be executed here, best first, "any" excluded.
  [[nodiscard]] virtual std::vector<std::string> platforms() const = 0;
  // Jobs that were runnable in the mean of the last minute, our own kernels included.
  [[nodiscard]] virtual double runnable_jobs() const = 0;
  // Of the whole computer, all programs.
  [[nodiscard]] virtual ProcessorTime processor_time() const { return {}; }
  [[nodiscard]] virtual std::optional<double> memory_in_use() const { return std::nullopt; }  // part of it
  // What a kernel takes: the process that was started and all that descend from it.
  [[nodiscard]] virtual io::TreeUse use(io::TreeHandle tree) const = 0;
  // Walks the tree, 64 levels deep; stops counting at `files_max` entries: 10,000 take 15 ms of
  // processor time.
  [[nodiscard]] virtual DirectoryUsage usage(const io::Path& directory, std::int64_t files_max) const = 0;
  // What it holds by descriptors alone; files count if they were in the file system of `directory`.
  [[nodiscard]] virtual DescriptorUse descriptors(io::TreeHandle tree, const io::Path& directory) const = 0;
  // How many processes the system ended since it started because memory was short; 0: it does not say.
  [[nodiscard]] virtual std::int64_t memory_kills() const { return 0; }
  // The calling thread yields to everything else from now on.
  virtual void lower_thread_priority() const = 0;
};

}  // namespace gleaner::host

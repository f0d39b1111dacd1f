// A few kernel processes of one bundle on this machine that compute one stage's items: who is free gets the
// next unit of a source, finished items are handed on as pieces. One thread: turn() does what there is to do
// and waits a moment for the kernels if there is nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/range_set.h"
#include "shared/base/result.h"
#include "shared/contract/kernel_session.h"
#include "shared/io/files.h"
#include "shared/io/process.h"
#include "tools/local/confinement.h"
#include "tools/local/local_bundle.h"
#include "tools/local/unit_source.h"

namespace gleaner::local {

// Items of `range` in the format of a segment (shared/protocol/segment.h).
struct ComputedPiece {
  Range range;
  Bytes segment;
  double seconds = 0;  // that all of it took
};

class KernelPool {
 public:
  struct Setup {
    LocalBundle bundle;
    io::Path work;  // each kernel gets a directory kernel-I in it to work in
    int kernels = 1;
    int threads = 1;  // of each
    std::function<void(int kernel, const std::string& text)> on_log;
  };
  // What is handed in must outlive it.
  KernelPool(io::ProcessRunner& runner, io::Files& files, const Clock& clock, const Confinement& confinement,
             Setup setup);

  // `problem`: the directory that the kernels read. Kernels that still compute (the stage before ended early)
  // are ended, as are those that see another directory.
  void begin_stage(const io::Path& problem, int stage, std::unique_ptr<UnitSource> units);
  // Appends what was finished. Errors: io (a kernel failed, hung or cannot be started; with its last words).
  [[nodiscard]] Status turn(std::vector<ComputedPiece>& pieces);
  // All units of the stage were computed and handed on.
  [[nodiscard]] bool stage_done() const;
  [[nodiscard]] std::int64_t items_computed() const { return computed_; }
  [[nodiscard]] std::int64_t units() const { return units_; }

 private:
  struct Worker {
    std::unique_ptr<contract::KernelSession> session;
    bool busy = false;
    bool has_problem = false;  // was told its directory
    Range unit;
    std::int64_t next = 0;  // item that comes next
    ComputedPiece piece;    // finished, not handed on
    SteadyTime piece_since{};
    SteadyTime item_since{};
    SteadyTime unit_since{};
  };

  Status start(Worker& worker, int number);
  Status feed(Worker& worker, int number);
  Status collect(Worker& worker, int number, std::vector<ComputedPiece>& pieces);
  Status take(Worker& worker, int number, contract::KernelEvent& event, std::vector<ComputedPiece>& pieces);
  void hand_on(Worker& worker, std::vector<ComputedPiece>& pieces);
  [[nodiscard]] Error failure(int number, std::int64_t item, const std::string& words) const;
  void wait_for_output();

  io::ProcessRunner& runner_;
  io::Files& files_;
  const Clock& clock_;
  const Confinement& confinement_;
  Setup setup_;
  std::vector<Worker> workers_;
  io::Path problem_;
  int stage_ = 0;
  std::unique_ptr<UnitSource> source_;
  std::int64_t computed_ = 0;
  std::int64_t units_ = 0;
};

}  // namespace gleaner::local

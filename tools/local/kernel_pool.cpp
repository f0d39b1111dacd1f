#include "tools/local/kernel_pool.h"

#include <algorithm>
#include <chrono>

#include "shared/protocol/segment.h"

namespace gleaner::local {
namespace {

// A piece is validated whole and in memory: this is enough to be efficient and little enough to hold.
constexpr std::size_t piece_bytes = 8 << 20;
// A manager that says "enough" should be heard soon.
constexpr Duration piece_age = std::chrono::seconds{2};
constexpr Duration output_wait = std::chrono::milliseconds{20};

}  // namespace

KernelPool::KernelPool(io::ProcessRunner& runner, io::Files& files, const Clock& clock,
                       const Confinement& confinement, Setup setup)
    : runner_(runner), files_(files), clock_(clock), confinement_(confinement), setup_(std::move(setup)) {
  workers_.resize(static_cast<std::size_t>(std::max(setup_.kernels, 1)));
}

void KernelPool::begin_stage(const io::Path& problem, int stage, std::unique_ptr<UnitSource> units) {
  const bool other = problem != problem_;
  problem_ = problem;
  stage_ = stage;
  source_ = std::move(units);
  computed_ = 0;
  units_ = 0;
  for (Worker& worker : workers_)
    if (worker.busy || other) worker = Worker{};
}

bool KernelPool::stage_done() const {
  return source_->exhausted() &&
         std::none_of(workers_.begin(), workers_.end(), [](const Worker& worker) { return worker.busy; });
}

Status KernelPool::turn(std::vector<ComputedPiece>& pieces) {
  for (std::size_t i = 0; i < workers_.size(); ++i) TRY(feed(workers_[i], static_cast<int>(i)));
  const std::size_t pieces_before = pieces.size();
  const std::int64_t computed_before = computed_;
  for (std::size_t i = 0; i < workers_.size(); ++i) TRY(collect(workers_[i], static_cast<int>(i), pieces));
  if (pieces.size() == pieces_before && computed_ == computed_before && !stage_done()) wait_for_output();
  return {};
}

Status KernelPool::start(Worker& worker, int number) {
  const io::Path directory = setup_.work / ("kernel-" + std::to_string(number));
  TRY(files_.make_directories(directory));
  TRY_ASSIGN(const auto spec, confinement_.kernel(setup_.bundle, {directory, problem_, setup_.threads}));
  TRY_ASSIGN(auto process, runner_.start(spec));
  worker = Worker{};
  worker.session = std::make_unique<contract::KernelSession>(
      std::move(process), setup_.bundle.manifest.item_bytes, setup_.bundle.modules());
  return {};
}

Status KernelPool::feed(Worker& worker, int number) {
  if (worker.busy || source_->exhausted()) return {};
  if (!worker.session || worker.session->finished()) TRY(start(worker, number));
  if (!worker.session->idle()) return {};
  if (!worker.has_problem) worker.session->set_problem(confinement_.inside(problem_));
  worker.has_problem = true;
  worker.unit = source_->next(number);
  ++units_;
  worker.busy = true;
  worker.next = worker.unit.begin;
  worker.piece = {{worker.next, worker.next}, {}, 0};
  worker.piece_since = worker.item_since = worker.unit_since = clock_.steady();
  worker.session->start_unit(stage_, worker.unit);
  return {};
}

Status KernelPool::collect(Worker& worker, int number, std::vector<ComputedPiece>& pieces) {
  if (!worker.session) return {};
  worker.session->pump();
  while (auto event = worker.session->next_event()) TRY(take(worker, number, *event, pieces));
  if (!worker.busy) return {};
  const SteadyTime now = clock_.steady();
  if (worker.piece.segment.size() >= piece_bytes || now - worker.piece_since >= piece_age)
    hand_on(worker, pieces);
  if (to_seconds(now - worker.item_since) <= setup_.bundle.manifest.item_seconds) return {};
  return failure(
      number, worker.next,
      "it worked longer on one item than the manifest's item_seconds allow; kernels that do are " +
          std::string("taken to hang. Raise item_seconds, or make items smaller. Its last words: ") +
          worker.session->process().error_tail());
}

Status KernelPool::take(Worker& worker, int number, contract::KernelEvent& event,
                        std::vector<ComputedPiece>& pieces) {
  using Kind = contract::KernelEvent::Kind;
  switch (event.kind) {
    case Kind::item:
      if (!worker.busy || event.item != worker.next || event.item >= worker.unit.end)
        return failure(number, worker.next, "it sent item " + std::to_string(event.item) + " out of turn");
      protocol::append_item(worker.piece.segment, event.data);
      worker.piece.range.end = ++worker.next;
      worker.item_since = clock_.steady();
      ++computed_;
      return {};
    case Kind::done:
      if (!worker.busy || worker.next != worker.unit.end)
        return failure(number, worker.next,
                       "it said done before the end of its unit, item " + std::to_string(worker.unit.end));
      hand_on(worker, pieces);
      worker.busy = false;
      source_->finished(number, worker.unit.size(), clock_.steady() - worker.unit_since);
      return {};
    case Kind::failed:
      return failure(number, worker.next, event.text);
    case Kind::log:
      if (setup_.on_log) setup_.on_log(number, event.text);
      return {};
    case Kind::progress:
    case Kind::checkpointed:
      return {};
  }
  return {};
}

void KernelPool::hand_on(Worker& worker, std::vector<ComputedPiece>& pieces) {
  worker.piece.seconds = to_seconds(worker.item_since - worker.piece_since);
  if (!worker.piece.range.empty()) pieces.push_back(std::move(worker.piece));
  worker.piece = {{worker.next, worker.next}, {}, 0};
  worker.piece_since = clock_.steady();
}

Error KernelPool::failure(int number, std::int64_t item, const std::string& words) const {
  return {ErrorKind::io, "kernel " + std::to_string(number) + " failed at item " + std::to_string(item) +
                             " of stage " + std::to_string(stage_) + ": " + words};
}

void KernelPool::wait_for_output() {
  std::vector<io::Waitable> waiting;
  for (Worker& worker : workers_) {
    if (!worker.session || worker.session->finished()) continue;
    waiting.push_back(worker.session->process().output_waitable());
  }
  (void)io::wait_any(waiting, output_wait);
}

}  // namespace gleaner::local

#include "server/service/core/kernel.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <thread>

#include "server/storage/file_blobs.h"

namespace gleaner::service {
namespace {

// Each costs some tens of microseconds (it is signed and encoded), and waking a thread some ten.
constexpr std::size_t answers_together = 8;

int pool_threads() {
  return std::max(4, static_cast<int>(std::thread::hardware_concurrency()) * 2);
}

}  // namespace

Kernel::Kernel(Settings settings, Dependencies dependencies, std::unique_ptr<storage::Store> store)
    : settings_(std::move(settings)),
      dependencies_(std::move(dependencies)),
      store_(std::move(store)),
      blobs_(dependencies_.blobs
                 ? std::move(dependencies_.blobs)
                 : std::make_unique<storage::FileBlobs>(dependencies_.files, settings_.directory.root())),
      managers_(dependencies_.files, dependencies_.processes, *blobs_, settings_.directory,
                settings_.configuration),
      pool_(pool_threads()),
      blob_pool_(blobs_->remote() ? std::make_unique<ThreadPool>(pool_threads()) : nullptr),
      writer_(*store_, settings_, dependencies_.files, dependencies_.clock) {}

void Kernel::on_pool(std::function<void()> job) {
  auto shared = std::make_shared<std::function<void()>>(std::move(job));
  if (!pool_.submit([shared] { (*shared)(); })) (*shared)();
}

void Kernel::on_blob_pool(std::function<void()> job) {
  if (!blob_pool_) return on_pool(std::move(job));
  auto shared = std::make_shared<std::function<void()>>(std::move(job));
  if (!blob_pool_->submit([shared] { (*shared)(); })) (*shared)();
}

void Kernel::answer(std::vector<std::function<void()>> answers) {
  for (std::size_t begin = 0; begin < answers.size(); begin += answers_together) {
    const std::size_t end = std::min(answers.size(), begin + answers_together);
    std::vector<std::function<void()>> some(
        std::make_move_iterator(answers.begin() + static_cast<std::ptrdiff_t>(begin)),
        std::make_move_iterator(answers.begin() + static_cast<std::ptrdiff_t>(end)));
    on_pool([some = std::move(some)] {
      for (const auto& answer : some) answer();
    });
  }
}

void Kernel::start_job(std::function<void()> job) {
  (void)(blob_pool_ ? *blob_pool_ : pool_).submit(std::move(job));
}

void Kernel::stop() {
  // The pool's jobs may still hand operations to the writer, and the writer's completions jobs to the pool:
  // the pool first (its last jobs see a running writer), then the writer (late completions run in place, see
  // on_pool).
  if (blob_pool_) blob_pool_->stop();
  pool_.stop();
  writer_.stop();
}

std::int64_t Kernel::room(int reserves) const {
  const auto free = dependencies_.files.free_bytes(settings_.directory.root());
  if (!free.ok()) return std::numeric_limits<std::int64_t>::max();
  return *free - reserves * settings_.configuration.disk_reserve_megabytes * (1 << 20);
}

Status Kernel::has_room(int reserves) const {
  if (room(reserves) < 0) return Error{ErrorKind::unavailable, "the server's disk is nearly full"};
  return {};
}

Status Kernel::can_store() const {
  if (!has_room(reserves_for_uploads).ok()) return Error{ErrorKind::unavailable, "its disk is nearly full"};
  if (writer_.refuses()) return Error{ErrorKind::unavailable, "its store refuses what is written to it"};
  return {};
}

}  // namespace gleaner::service

// What time alone brings about, once a second: hosts fall silent, plans grow old, accounts are kept, a newer
// revocation list is looked for, the store's generation is noted, jobs whose results could not be stored are
// tried again, curves get their samples, problems that ended long ago and blobs that nothing refers to are
// removed, and other blobs read again; managers that nobody asks are seen to stand still; a relay's parent
// hears of who left, and who waits there is looked at.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/service/access/subtree.h"
#include "server/service/core/kernel.h"
#include "server/service/core/revocations.h"
#include "server/service/operator/audit.h"
#include "server/service/operator/problems.h"
#include "server/service/operator/views.h"
#include "server/service/work/revocation_watch.h"
#include "server/service/work/scrub.h"
#include "server/service/work/upload_accounts.h"
#include "server/service/work/work.h"

namespace gleaner::service {

class Ticker {
 public:
  Ticker(Kernel& kernel, UploadAccounts& uploads, Audit& audit, RevocationWatch& revocations, Scrub& scrub,
         Views& views, Problems& problems, Subtree& subtree, Work& work)
      : kernel_(kernel),
        uploads_(uploads),
        audit_(audit),
        revocations_(revocations),
        scrub_(scrub),
        views_(views),
        problems_(problems),
        subtree_(subtree),
        work_(work) {}
  ~Ticker();  // stop()
  // A thread that ticks once a second.
  void start();
  void stop();
  // One thread at a time.
  void tick();
  // Writes down how far the store is, if it went on (storage/generation_note.h). As tick(), or after stop().
  void note_generation();
  // Blobs that no row names and that nobody has touched for a day, or for an hour if a host uploaded them, by
  // a calendar that was believed for as long.
  void collect_garbage();

 private:
  void remove_blobs_but(const std::vector<std::string>& digests, Duration calendar_agreed);
  // Asks an object store that was away whether it is back.
  void probe_blobs();
  Kernel& kernel_;
  UploadAccounts& uploads_;
  Audit& audit_;
  RevocationWatch& revocations_;
  Scrub& scrub_;
  Views& views_;
  Problems& problems_;
  Subtree& subtree_;
  Work& work_;
  int ticks_ = 0;
  storage::GenerationNote noted_;
  Repeats note_trouble_;
  std::shared_ptr<std::atomic<bool>> pending_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<bool>> probing_ = std::make_shared<std::atomic<bool>>(false);
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace gleaner::service

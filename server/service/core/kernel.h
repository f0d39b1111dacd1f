// What all use cases stand on: the store and the model with their writer, the pool, blobs, managers, clock.
// Thread-safe. Nothing of it can be reached from an operation (transaction.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "server/service/core/acts.h"
#include "server/service/core/managers.h"
#include "server/service/core/parent.h"
#include "server/service/core/writer.h"
#include "server/storage/blob_store.h"
#include "shared/base/clock.h"
#include "shared/base/thread_pool.h"
#include "shared/io/process.h"

namespace gleaner::service {

// Called exactly once, on a thread of the pool, when the answer would survive a power cut. If somebody is
// named who does it, the change leaves an act (acts.h) when it is made; who wraps a Done in another hands
// that on.
template <typename T>
class Done {
 public:
  Done() = default;
  template <typename Call>
  requires(!std::is_same_v<std::remove_cvref_t<Call>, Done> && std::is_invocable_v<Call&, Result<T>>)
      Done(Call call, std::optional<Actor> actor = {})  // NOLINT(google-explicit-constructor): lambdas
      : call_(std::move(call)), actor_(std::move(actor)) {}
  void operator()(Result<T> result) const { call_(std::move(result)); }
  [[nodiscard]] Done by(Actor actor) const { return {call_, std::move(actor)}; }
  [[nodiscard]] const std::optional<Actor>& actor() const { return actor_; }

 private:
  std::function<void(Result<T>)> call_;
  std::optional<Actor> actor_;
};
using StatusDone = std::function<void(Status)>;

struct Dependencies {
  io::Files& files;
  io::ProcessRunner& processes;
  Clock& clock;
  std::unique_ptr<storage::BlobStore> blobs = {};  // none: files of the project's directory
  Parent* parent = nullptr;                        // of a relay; null: it is the project's server
};

// Uploads leave the last of the disk to commits.
inline constexpr int reserves_for_uploads = 2;

class Kernel {
 public:
  Kernel(Settings settings, Dependencies dependencies, std::unique_ptr<storage::Store> store);

  // Runs the operation on the writer thread in a transaction, which has the act of `done`, too, if the value
  // is no error; then `done` on the pool with what it left in the value.
  template <typename T>
  void decide(std::function<Status(Transaction&, Result<T>&)> operation, Done<T> done);
  // For answers: while stopping they are given at once, so that nobody waits for ever.
  void on_pool(std::function<void()> job);
  // The same for many, a few to a thread at a time.
  void answer(std::vector<std::function<void()>> answers);
  // For what may wait for an object store: on threads of its own, where there is one, so that all else goes
  // on.
  void on_blob_pool(std::function<void()> job);
  // For work that the next start begins again: while stopping it is not taken. On the same threads.
  void start_job(std::function<void()> job);
  // Finishes what was taken.
  void stop();

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] io::Files& files() { return dependencies_.files; }
  [[nodiscard]] io::ProcessRunner& processes() { return dependencies_.processes; }
  [[nodiscard]] const Clock& clock() const { return dependencies_.clock; }
  // Before the writer starts; at any time what store.h says is for any thread.
  [[nodiscard]] storage::Store& store() { return *store_; }
  [[nodiscard]] storage::BlobStore& blobs() { return *blobs_; }
  [[nodiscard]] Managers& managers() { return managers_; }
  [[nodiscard]] Parent* parent() const { return dependencies_.parent; }
  [[nodiscard]] Writer& writer() { return writer_; }
  // Bytes that are free beyond `reserves` times the disk's reserve; negative: less is free.
  [[nodiscard]] std::int64_t room(int reserves) const;
  // error: less than `reserves` times the disk's reserve is free.
  [[nodiscard]] Status has_room(int reserves = 1) const;
  // Whether results of any size can be stored here. unavailable: why not, of "it".
  [[nodiscard]] Status can_store() const;

 private:
  Settings settings_;
  Dependencies dependencies_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<storage::BlobStore> blobs_;
  Managers managers_;
  ThreadPool pool_;
  std::unique_ptr<ThreadPool> blob_pool_;  // null: blobs never wait for another machine
  Writer writer_;
};

template <typename T>
void Kernel::decide(std::function<Status(Transaction&, Result<T>&)> operation, Done<T> done) {
  auto value = std::make_shared<Result<T>>(Error{ErrorKind::internal, "no answer"});
  auto decided = [operation = std::move(operation), value, actor = done.actor()](Transaction& tx) -> Status {
    TRY(operation(tx, *value));
    if (actor && value->ok()) {
      tx.model.acts_head_known = false;
      TRY(append_act(tx.store, *actor, words_of(**value), tx.now));
    }
    return {};
  };
  writer_.submit(std::move(decided), [value, done = std::move(done)](Status status) -> Writer::Answer {
    if (!status.ok()) *value = status.error();
    return [value, done] { done(std::move(*value)); };
  });
}

}  // namespace gleaner::service

#include "server/service/work/reply_signer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

// A signature costs 40 us, which so many share; each doubling makes every proof 33 bytes longer.
constexpr std::size_t replies_together = 16;
// A reply with more has a signature of its own, which costs each of them little.
constexpr std::size_t statements_together = 8;
// With their random texts: as many levels as a proof may have.
static_assert(2 * replies_together * statements_together <= std::size_t{1} << limits::proof_bytes_max / 33);

}  // namespace

void ReplySigner::sign(std::vector<crypto::UnsignedStatement> statements, Signed done) {
  if (statements.empty() || statements.size() > statements_together)
    return done(crypto::sign_statements(std::move(statements), key_));
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(statements), std::move(done)});
    if (waiting_.size() > 1) return;
  }
  kernel_.on_pool([this] { sign_some(); });
}

void ReplySigner::sign_some() {
  std::vector<Waiting> some;
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), replies_together));
    some.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
    more = !waiting_.empty();
  }
  if (more) kernel_.on_pool([this] { sign_some(); });
  if (some.size() == 1) {
    some.front().done(crypto::sign_statements(std::move(some.front().statements), key_));
    return;
  }
  std::vector<std::vector<crypto::UnsignedStatement>> receivers;
  for (auto& one : some) receivers.push_back(std::move(one.statements));
  auto all = crypto::sign_for_many(std::move(receivers), key_);
  for (std::size_t i = 0; i < some.size(); ++i) some[i].done(std::move(all[i]));
}

}  // namespace gleaner::service

#include "client/engine/grant_contexts.h"

#include <algorithm>
#include <utility>

#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"

namespace gleaner::engine {

void GrantContexts::learn(const protocol::SignedStatement& statement) {
  if (!statement.context) return;
  Context context{crypto::sha256_hex(*statement.context), *statement.context};
  const auto same = [&](const Context& one) { return one.digest == context.digest; };
  if (const auto known = std::find_if(contexts_.begin(), contexts_.end(), same); known != contexts_.end()) {
    bytes_ -= known->text.size();
    contexts_.erase(known);
  }
  bytes_ += context.text.size();
  contexts_.push_front(std::move(context));
  while (contexts_.size() > 1 &&
         (contexts_.size() > static_cast<std::size_t>(limits::contexts_per_request_max) ||
          bytes_ > static_cast<std::size_t>(limits::contexts_bytes_max))) {
    bytes_ -= contexts_.back().text.size();
    contexts_.pop_back();
  }
}

void GrantContexts::complete(protocol::SignedStatement& statement) const {
  if (statement.context) return;
  const auto grant = protocol::decode<protocol::Grant>(statement.payload);
  if (!grant.ok() || !grant->context) return;
  for (const Context& context : contexts_)
    if (context.digest == *grant->context) statement.context = context.text;
}

std::vector<std::string> GrantContexts::known() const {
  std::vector<std::string> digests;
  for (const Context& context : contexts_) digests.push_back(context.digest);
  return digests;
}

}  // namespace gleaner::engine

#include "client/policy/relay_silence.h"

namespace gleaner::client_policy {
namespace {
constexpr int tries_part = 72;  // of the patience: an hour of three days
}

void RelaySilence::heard() {
  since_.reset();
  trying_since_.reset();
}

void RelaySilence::unheard(Timestamp now, SteadyTime steady) {
  if (!since_ || *since_ > now) since_ = now;
  if (!trying_since_) trying_since_ = steady;
}

bool RelaySilence::for_good(Duration patience, Timestamp now, SteadyTime steady) const {
  return since_ && trying_since_ && now - *since_ >= patience &&
         steady - *trying_since_ >= patience / tries_part;
}

}  // namespace gleaner::client_policy

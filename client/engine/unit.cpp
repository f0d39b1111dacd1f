#include "client/engine/unit.h"

#include "shared/base/limits.h"
#include "shared/protocol/text.h"

namespace gleaner::engine {

void Unit::step(client_policy::UnitEvent event) {
  const auto next = client_policy::after(state, event);
  CHECK_TRUE(next.has_value());
  state = *next;
}

void Unit::stop() {
  held->stop();
  if (client_policy::after(state, client_policy::UnitEvent::stop)) step(client_policy::UnitEvent::stop);
}

void Unit::fail(protocol::FailureKind kind, const std::string& message) {
  if (!delivery.failure) {
    protocol::FailureReport report;
    report.unit = id();
    report.kind = kind;
    report.item = held->finished();
    report.message = protocol::clean_text(message, limits::message_length_max);
    delivery.failure = std::move(report);
  }
  stop();
}

}  // namespace gleaner::engine

// The tables of a relay (relay_rows.h). As stored_project.h.
#pragma once

#include "server/storage/relay_rows.h"
#include "server/storage/stored.h"

namespace gleaner::storage {

template <>
struct Stored<LeaseRow> {
  static constexpr const char* name = "leases";
  static void columns(auto& row, auto&& to) {
    to("unit", row.unit);
    to("problem", row.problem);
    to("stage", row.stage);
    to("range", row.range);
    to("handed_end", row.handed_end);
    to("deadline", row.deadline);
    to("open", row.open);
    to("chain", AsBytes{row.chain});
  }
};

template <>
struct Stored<DeliveryRow> {
  static constexpr const char* name = "deliveries";
  static constexpr std::size_t keys = 5;
  static void columns(auto& row, auto&& to) {
    to("unit", row.unit);
    to("host", row.host);
    to("range", row.range);
    to("digest", AsDigest{row.digest});
    to("via", row.via);
    to("segment", row.segment);
    to("problem", row.problem);
    to("stage", row.stage);
    to("lease", row.lease);
    to("bytes", row.bytes);
    to("in_store", row.in_store);
    to("compute_seconds", row.compute_seconds);
    to("statement", AsBytes{row.statement});
    to("acknowledgement", AsBytes{row.acknowledgement});
    to("answered_at", row.answered_at);
  }
};

}  // namespace gleaner::storage

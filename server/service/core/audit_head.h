// The head of the audit log, noted outside the store: `admin/audit.head`, beside the admin token. Who can
// write the store, and nothing else, cannot cut the log's end: the noted act must be in it.
//
// The note speaks only of what was durable before it was written, and is replaced as a whole: neither a
// killed server nor a power cut makes it say too much. It may say too little: what was added after it.
#pragma once

#include <optional>
#include <vector>

#include "server/service/core/project_directory.h"
#include "shared/protocol/access_messages.h"

namespace gleaner::service {

// Nothing: there is none yet. untrusted: it is damaged.
[[nodiscard]] Result<std::optional<protocol::ChainPlace>> read_audit_head(const io::Files& files,
                                                                          const ProjectDirectory& directory);
// Durable on success.
[[nodiscard]] Status write_audit_head(io::Files& files, const ProjectDirectory& directory,
                                      const protocol::ChainPlace& head);
// What was lost is given up: the next note is of the log as it is.
[[nodiscard]] Status forget_audit_head(io::Files& files, const ProjectDirectory& directory);

// `found`: the act of the noted number, if the log has it. untrusted: it is another, or the log was cut.
[[nodiscard]] Status check_audit_head(const protocol::ChainPlace& noted, const protocol::ChainPlace& start,
                                      const protocol::ChainPlace& head,
                                      const std::optional<protocol::Act>& found);

}  // namespace gleaner::service

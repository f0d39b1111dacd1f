#include "server/service/core/audit_head.h"

#include <fmt/format.h>

#include "shared/crypto/act_chain.h"

namespace gleaner::service {
namespace {

constexpr std::string_view head_line = "gleaner-audit-head 1\n";

}  // namespace

Result<std::optional<protocol::ChainPlace>> read_audit_head(const io::Files& files,
                                                            const ProjectDirectory& directory) {
  const io::Path path = directory.audit_head();
  if (!files.exists(path)) return std::optional<protocol::ChainPlace>{};
  TRY_ASSIGN(const Bytes text, files.read(path, key_file_bytes_max));
  const auto place = text.starts_with(head_line) && text.ends_with("\n")
                         ? crypto::parse_place(std::string_view(text).substr(
                               head_line.size(), text.size() - head_line.size() - 1))
                         : std::nullopt;
  if (!place)
    return Error{ErrorKind::untrusted,
                 path.string() + " is damaged: it cannot show whether the audit log was cut"};
  return place;
}

Status write_audit_head(io::Files& files, const ProjectDirectory& directory,
                        const protocol::ChainPlace& head) {
  return files.write(directory.audit_head(), std::string(head_line) + crypto::place_text(head) + "\n",
                     io::Mode::normal);
}

Status forget_audit_head(io::Files& files, const ProjectDirectory& directory) {
  return files.exists(directory.audit_head()) ? files.remove(directory.audit_head()) : Status{};
}

Status check_audit_head(const protocol::ChainPlace& noted, const protocol::ChainPlace& start,
                        const protocol::ChainPlace& head, const std::optional<protocol::Act>& found) {
  if (noted.number < start.number) return {};  // not kept any more
  if (noted.number > head.number)
    return Error{ErrorKind::untrusted,
                 fmt::format("the audit log was cut: it ends with act {}, and act {} was noted outside the "
                             "store",
                             head.number, noted.number)};
  const bool same = noted.number == start.number ? noted.digest == start.digest
                                                 : found && crypto::digest_of(*found) == noted.digest;
  if (same) return {};
  return Error{ErrorKind::untrusted,
               fmt::format("act {} of the audit log is not the one that was noted outside the store: it, or "
                           "one before it, was changed or cut, and the chain was written anew",
                           noted.number)};
}

}  // namespace gleaner::service

#include "shared/protocol/admin_messages.h"
#include "shared/protocol/messages.h"

namespace gleaner::protocol {

const char* name_of(StatementType type) {
  switch (type) {
    case StatementType::work_key_certificate:
      return "work-key-certificate";
    case StatementType::signer_certificate:
      return "signer-certificate";
    case StatementType::project:
      return "project";
    case StatementType::application:
      return "application";
    case StatementType::grant:
      return "grant";
    case StatementType::acknowledgement:
      return "acknowledgement";
    case StatementType::revocations:
      return "revocations";
    case StatementType::blob_address:
      return "blob-address";
    case StatementType::put_addresses:
      return "put-addresses";
    case StatementType::relay_certificate:
      return "relay-certificate";
    case StatementType::relay_grant:
      return "relay-grant";
    case StatementType::delivery:
      return "delivery";
    case StatementType::enrolment:
      return "enrolment";
    case StatementType::failure:
      return "failure";
  }
  return "unknown";
}

const char* name_of(CommitStatus status) {
  switch (status) {
    case CommitStatus::accepted:
      return "accepted";
    case CommitStatus::duplicate:
      return "duplicate";
    case CommitStatus::refused:
      return "refused";
  }
  return "unknown";
}

const char* name_of(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::paused:
      return "paused";
    case RunState::waiting:
      return "waiting";
  }
  return "unknown";
}

const char* name_of(UnitAction action) {
  switch (action) {
    case UnitAction::go_on:
      return "go-on";
    case UnitAction::cancel:
      return "cancel";
    case UnitAction::pause:
      return "pause";
  }
  return "unknown";
}

const char* name_of(InstanceOrder order) {
  switch (order) {
    case InstanceOrder::renew:
      return "renew";
    case InstanceOrder::part:
      return "part";
  }
  return "unknown";
}

const char* name_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::kernel_crashed:
      return "kernel-crashed";
    case FailureKind::kernel_hung:
      return "kernel-hung";
    case FailureKind::kernel_error:
      return "kernel-error";
    case FailureKind::bad_output:
      return "bad-output";
    case FailureKind::resource_limit:
      return "resource-limit";
    case FailureKind::not_executable:
      return "not-executable";
    case FailureKind::untrusted:
      return "untrusted";
    case FailureKind::download_failed:
      return "download-failed";
  }
  return "unknown";
}

const char* name_of(ProblemState state) {
  switch (state) {
    case ProblemState::planning:
      return "planning";
    case ProblemState::running:
      return "running";
    case ProblemState::paused:
      return "paused";
    case ProblemState::combining:
      return "combining";
    case ProblemState::finished:
      return "finished";
    case ProblemState::cancelled:
      return "cancelled";
    case ProblemState::failed:
      return "failed";
    case ProblemState::stopped:
      return "stopped";
  }
  return "unknown";
}

const char* name_of(HostState state) {
  switch (state) {
    case HostState::active:
      return "active";
    case HostState::revoked:
      return "revoked";
    case HostState::left:
      return "left";
  }
  return "unknown";
}

}  // namespace gleaner::protocol

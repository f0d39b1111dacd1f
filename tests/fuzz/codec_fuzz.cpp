// Messages: what decodes must survive being encoded, and must be the same afterwards. The first byte picks
// the message ('0' the first), the rest is its text.
#include <array>

#include "shared/protocol/codec.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::protocol;

namespace {

template <typename Message>
void check(std::string_view text) {
  const auto message = decode<Message>(text);
  if (!message.ok()) {
    CHECK_TRUE(message.error().kind == ErrorKind::invalid || message.error().kind == ErrorKind::too_large);
    CHECK_TRUE(!message.error().message.empty() && message.error().message.size() < 2000);
    return;
  }
  const std::string again = encode(*message);
  const auto back = decode<Message>(again);
  CHECK_TRUE(back.ok());
  CHECK_TRUE(encode(*back) == again);
}

template <typename... Messages>
constexpr auto checks_of() {
  return std::array<void (*)(std::string_view), sizeof...(Messages)>{&check<Messages>...};
}

constexpr auto checks =
    checks_of<SignedStatement, KeyCertificate, RevocationList, ProjectDocument, ApplicationStatement, Input,
              Grant, Acknowledgement, Benchmark, EnrolRequest, EnrolReply, CommitRequest, UnitReport,
              HeartbeatRequest, UnitOrder, HeartbeatReply, Proposal, SlotRequest, WorkRequest, WorkReply,
              FailureReport, UploadState, ProblemDocument, ApplicationInfo, AddApplication, AddProblem,
              ResultFile, Preview, HostShare, SetAside, ProblemInfo, HostInfo, CodeInfo, AddCode, MadeCode,
              WithdrawCode, RevokeHost, std::vector<CodeInfo>, TokenInfo, AddToken, WithdrawToken, MadeToken,
              std::vector<TokenInfo>, ServerStatus, DecisionInfo, ChangeStrategy, ChangeApplication,
              StrategyInfo, std::vector<StrategyInfo>, std::vector<ApplicationInfo>, std::vector<ProblemInfo>,
              std::vector<HostInfo>, std::vector<DecisionInfo>, ProblemProgress, AuditPage, AddBan, RemoveBan,
              std::vector<Ban>, GrantContext, ProblemEstimate, HoldHost, TagHost, std::vector<UnitInfo>,
              BlobAddress, PutAddresses, PutRequest, RelayCertificate, RelayGrant, LeaseChain, Delivery,
              HeldResult, Enrolment, RelayHostReply, RelayHostLeft, AddRelay, RelayInfo,
              std::vector<RelayInfo>, StageDescription, Failure, RelayQuota, GivenUnit, EnrolmentNonce>();

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  checks[static_cast<std::uint8_t>(data[0] - '0') % checks.size()](text);
  (void)check_json_object(text);
  return 0;
}

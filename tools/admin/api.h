// The published admin API (shared/protocol/API.md), one function an operation. What may safely be repeated is
// repeated a few times, with growing, jittered pauses, when the server is away or busy. Errors say what to
// do: unavailable (no answer), unauthorized (the token), untrusted (not the expected server), else as the
// server's RFC 9457 document says. Blocks; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/random.h"
#include "shared/base/result.h"
#include "shared/io/http_client.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/console_messages.h"
#include "tools/admin/profile.h"

namespace gleaner::admin {

// What an answer that is no success means. Never ok-looking: any status gives an error.
[[nodiscard]] Error error_of_reply(const io::HttpReply& reply, const Connection& connection);

inline constexpr const char* empty_body = R"({"version":1})";

class Api {
 public:
  Api(std::unique_ptr<io::HttpClient> http, Connection connection, const Outside& outside);

  // https://HOST:PORT
  [[nodiscard]] const std::string& address() const { return connection_.url; }
  [[nodiscard]] Result<protocol::ServerStatus> status();
  [[nodiscard]] Result<std::vector<protocol::ApplicationInfo>> applications();
  // NAME or NAME@VERSION, with the parameters and inputs that it declares.
  [[nodiscard]] Result<protocol::ApplicationInfo> application(const std::string& name);
  [[nodiscard]] Result<protocol::ApplicationInfo> add_application(
      const protocol::AddApplication& application);
  [[nodiscard]] Result<std::vector<protocol::ProblemInfo>> problems();
  // With the shares of the thousand hosts that did most, or of up to limits::list_length_max.
  enum class Shares { most, all };
  [[nodiscard]] Result<protocol::ProblemInfo> problem(ProblemId id, Shares shares = Shares::most);
  // With its parameters and inputs; an older server leaves both out.
  [[nodiscard]] Result<protocol::ProblemInfo> problem_with_inputs(ProblemId id);
  [[nodiscard]] Result<protocol::ProblemInfo> add_problem(const protocol::AddProblem& problem);
  // What adding it would come to; nothing is added.
  [[nodiscard]] Result<protocol::ProblemEstimate> estimate_problem(const protocol::AddProblem& problem);
  // `verb`: pause, resume, cancel, retry.
  [[nodiscard]] Result<protocol::ProblemInfo> change_problem(ProblemId id, const std::string& verb);
  // Of inputs that were uploaded; takes as long as adding a problem with all of them.
  [[nodiscard]] Result<protocol::ProblemInfo> append(ProblemId id, const protocol::AppendInputs& inputs);
  // Of items whose results say that they failed; takes as long as a preview.
  [[nodiscard]] Result<protocol::ProblemInfo> retry_failed(ProblemId id);
  // Its first row, and how many there are; invalid: the result is no table.
  [[nodiscard]] Result<protocol::TablePage> table(const std::string& digest);
  [[nodiscard]] Result<protocol::Preview> preview(ProblemId id);
  // Files of what is accepted, whatever became of the problem.
  [[nodiscard]] Result<protocol::Preview> partial(ProblemId id);
  [[nodiscard]] Status remove_problem(ProblemId id);
  // So that people see what waits for what. not_found: the server is older than this operation.
  [[nodiscard]] Result<protocol::FlowInfo> tell_flow(const protocol::FlowInfo& flow);
  [[nodiscard]] Result<std::vector<protocol::StrategyInfo>> strategies();
  [[nodiscard]] Result<protocol::ProblemInfo> change_strategy(ProblemId id,
                                                              const protocol::ChangeStrategy& change);
  [[nodiscard]] Result<protocol::ProblemInfo> change_application(ProblemId id,
                                                                 const protocol::ChangeApplication& change);
  [[nodiscard]] Result<std::vector<protocol::DecisionInfo>> decisions(ProblemId id, int count);
  // What a kernel of it says, on this host or (0) on any. conflict: none computes it there.
  [[nodiscard]] Result<protocol::KernelOutput> output(ProblemId id, HostId host);
  [[nodiscard]] Result<std::vector<protocol::HostInfo>> hosts();
  [[nodiscard]] Result<protocol::HostInfo> host(HostId id);
  [[nodiscard]] Result<protocol::HostInfo> revoke_host(HostId id, const protocol::RevokeHost& revocation);
  [[nodiscard]] Result<protocol::HostInfo> hold_host(HostId id, const protocol::HoldHost& hold);
  [[nodiscard]] Result<protocol::HostInfo> release_host(HostId id);
  [[nodiscard]] Result<protocol::HostInfo> tag_host(HostId id, const protocol::TagHost& tags);
  // Its last units, the newest first.
  [[nodiscard]] Result<std::vector<protocol::UnitInfo>> host_units(HostId id, int count);
  [[nodiscard]] Result<std::vector<protocol::CodeInfo>> codes();
  [[nodiscard]] Result<protocol::CodeInfo> code(const std::string& name);
  [[nodiscard]] Result<protocol::MadeCode> add_code(const protocol::AddCode& code);
  [[nodiscard]] Result<protocol::MadeCode> rotate_code(const std::string& name);
  [[nodiscard]] Result<protocol::CodeInfo> withdraw_code(const std::string& name,
                                                         const protocol::WithdrawCode& withdrawal);

  [[nodiscard]] Result<protocol::UploadState> upload_state(const std::string& digest);
  // Appends `chunk` at `offset` of a blob of `total` bytes; compressed where that pays.
  [[nodiscard]] Result<protocol::UploadState> append_upload(const std::string& digest, std::int64_t offset,
                                                            std::int64_t total, std::string_view chunk);
  // Bytes [offset, offset + bytes) of a blob.
  [[nodiscard]] Result<Bytes> blob_range(const std::string& digest, std::int64_t offset, std::int64_t bytes);

  // Of a request whose answer got lost: send it again, or leave that to the person?
  enum class Repeat { yes, no };
  // What the others are made of (also access_api.h).
  template <typename Message>
  Result<Message> get(const std::string& path);
  template <typename Message>
  Result<Message> post(const std::string& path, std::string body, Repeat repeat,
                       std::optional<Duration> timeout = {});

 private:
  [[nodiscard]] Result<io::HttpReply> send(io::HttpRequest request, Repeat repeat);

  std::unique_ptr<io::HttpClient> http_;
  Connection connection_;
  const Outside& outside_;
  Random random_;
};

template <typename Message>
Result<Message> Api::get(const std::string& path) {
  io::HttpRequest request;
  request.url = path;
  TRY_ASSIGN(const io::HttpReply reply, send(std::move(request), Repeat::yes));
  auto message = protocol::decode<Message>(reply.body);
  if (!message.ok())
    return message.error().within("the server's answer cannot be read (is it another version?)");
  return message;
}

template <typename Message>
Result<Message> Api::post(const std::string& path, std::string body, Repeat repeat,
                          std::optional<Duration> timeout) {
  io::HttpRequest request;
  if (timeout) request.timeout = *timeout;
  request.method = "POST";
  request.url = path;
  request.headers.emplace_back("Content-Type", "application/json");
  request.body = std::move(body);
  TRY_ASSIGN(const io::HttpReply reply, send(std::move(request), repeat));
  auto message = protocol::decode<Message>(reply.body);
  if (!message.ok())
    return message.error().within("the server's answer cannot be read (is it another version?)");
  return message;
}

}  // namespace gleaner::admin

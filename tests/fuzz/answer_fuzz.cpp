// A server's answer, as a client understands it: two bytes of status, a line that is the Retry-After header,
// the body. Whatever a server or something on the way says, the client gets an error of few kinds, with a
// printable sentence and a bounded wait, or a message of the protocol.
#include "shared/base/limits.h"
#include "shared/protocol/text.h"
#include "shared/transport/server_call.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;

namespace {

class OneAnswer final : public io::HttpClient {
 public:
  explicit OneAnswer(io::HttpReply reply) : reply_(std::move(reply)) {}
  Result<io::HttpReply> send(const io::HttpRequest& request) override {
    CHECK_TRUE(request.url == "https://h:1/api" && request.reply_bytes_max > 0);
    return reply_;
  }

 private:
  io::HttpReply reply_;
};

template <typename Message>
void check(const transport::Answer& answer) {
  const auto message = transport::understand<Message>(answer);
  if (message.ok())
    CHECK_TRUE(protocol::decode<Message>(protocol::encode(*message)).ok());
  else
    CHECK_TRUE(!message.error().message.empty());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text = fuzz::text_of(data + 2, size - 2);
  const auto end = std::min(text.find('\n'), text.size());
  io::HttpReply reply;
  reply.status = data[0] % 8 * 100 + data[1] % 100;
  if (end > 0) reply.headers["retry-after"] = std::string(text.substr(0, end));
  reply.body = Bytes(text.substr(std::min(end + 1, text.size())));
  const bool success = reply.status >= 200 && reply.status < 300;
  OneAnswer http(std::move(reply));

  const transport::Server server{"https://h:1", "token"};
  const auto answer = transport::call(http, server, transport::json_request(server, "/api", "{}"));
  CHECK_TRUE(answer.reply.ok() == success);
  if (answer.retry_after)
    CHECK_TRUE(*answer.retry_after >= Duration{0} &&
               *answer.retry_after <= std::chrono::seconds{limits::retry_after_seconds_max});
  if (!success) {
    const Error& error = answer.reply.error();
    CHECK_TRUE(error.kind != ErrorKind::io && error.kind != ErrorKind::internal);
    CHECK_TRUE(error.message.size() < 2000 &&
               protocol::clean_line(error.message, error.message.size()) == error.message);
  }
  check<protocol::WorkReply>(answer);
  check<protocol::HeartbeatReply>(answer);
  check<protocol::EnrolReply>(answer);
  check<protocol::SignedStatement>(answer);
  return 0;
}

#include "client/platform/outside_source.h"

#include <thread>

#include "client/policy/outside.h"

namespace gleaner::platform {
namespace {

constexpr auto look_interval = std::chrono::milliseconds{20};

Error no_answer(const std::string& why) {
  return {ErrorKind::unavailable, why};
}

class LocalOutsideSource final : public host::OutsideSource {
 public:
  LocalOutsideSource(io::ProcessRunner& processes, Duration longest)
      : processes_(processes), patience_(longest) {}

  Result<std::string> ask(const std::string& where) override {
    return client_policy::is_outside_program(where) ? run(where) : get(where);
  }

 private:
  [[nodiscard]] std::string too_late() const {
    return "it did not answer within " +
           std::to_string(std::chrono::ceil<std::chrono::seconds>(patience_).count()) + " s";
  }

  Result<std::string> run(const std::string& program) {
    io::ProcessSpec spec;
    spec.arguments = {program};
    spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
    spec.working_directory = "/";
    spec.limits.priority = io::ProcessPriority::idle;
    TRY_ASSIGN(const auto child, processes_.start(spec));  // its end kills what is left
    child->close_input();
    const SteadyTime end = system_clock().steady() + patience_;
    Bytes said;
    std::optional<io::ProcessExit> exit;
    for (bool open = true; open || !exit;) {
      const io::ReadKind read =
          open ? child->read_some(said, answer_bytes_max + 1) : io::ReadKind::would_block;
      if (said.size() > answer_bytes_max)
        return no_answer("it said more than " + std::to_string(answer_bytes_max) + " bytes");
      if (read == io::ReadKind::closed) open = false;
      if (!exit) exit = child->poll_exit();
      // What it left running may hold its output open: that is not waited for.
      if (exit && read != io::ReadKind::data) break;
      if (system_clock().steady() >= end) return no_answer(too_late());
      if (read != io::ReadKind::data) std::this_thread::sleep_for(look_interval);
    }
    if (!exit->well()) return no_answer("it " + exit->describe());
    return said;
  }

  Result<std::string> get(const std::string& address) {
    if (!http_) http_ = io::make_stranger_client();
    io::HttpRequest request;
    request.url = address;
    request.reply_bytes_max = answer_bytes_max;
    request.timeout = patience_;
    TRY_ASSIGN(const io::HttpReply reply, http_->send(request));
    if (reply.status != 200) return no_answer("it answered with status " + std::to_string(reply.status));
    return reply.body;
  }

  io::ProcessRunner& processes_;
  Duration patience_;
  std::unique_ptr<io::HttpClient> http_;
};

}  // namespace

std::unique_ptr<host::OutsideSource> make_outside_source(io::ProcessRunner& processes, Duration patience) {
  return std::make_unique<LocalOutsideSource>(processes, patience);
}

}  // namespace gleaner::platform

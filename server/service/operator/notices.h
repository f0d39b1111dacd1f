// What people hear of without looking: that a problem finished or failed, that no host is heard of, and what
// an administrator should do something about (the warnings of `gleaner-admin status`: a disk that fills, a
// certificate near its end). By mail and to a webhook, as the settings say. Nothing waits for either: a
// thread of its own sends, tries again a few times, and says in the log what could not be delivered.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "server/service/operator/overview.h"
#include "shared/io/http_client.h"
#include "shared/io/process.h"

namespace gleaner::service {

struct Notice {
  std::string kind;  // problem-finished, problem-failed, problem-stopped, fleet-silent, fleet-back, warning
  std::string subject;  // a sentence, one line
  std::string text;     // more of it; may be empty
  Timestamp at;
};

// Compares each snapshot with the one before. What ended before the first look is not told again; what there
// is to warn of then is. Not thread-safe; pure.
class NoticeWatch {
 public:
  [[nodiscard]] std::vector<Notice> look(const ProjectSnapshot& snapshot);

 private:
  void look_at_problems(const ProjectSnapshot& snapshot, std::vector<Notice>& notices);
  void look_at_fleet(const protocol::ServerStatus& status, std::vector<Notice>& notices);
  void look_at_warnings(const protocol::ServerStatus& status, std::vector<Notice>& notices);

  bool first_ = true;
  bool silent_ = false;
  std::map<ProblemId, protocol::ProblemState> states_;
  std::set<std::string> warned_;  // without their numbers, which change
};

// What stays of a warning whose numbers change from minute to minute.
[[nodiscard]] std::string without_numbers(std::string text);
// As it is given to sendmail, header and all (RFC 5322).
[[nodiscard]] std::string mail_of(const Notice& notice, const std::string& project, const std::string& to);
// {"version":1,"kind":...,"project":...,"subject":...,"text":...,"at":...}
[[nodiscard]] std::string webhook_body_of(const Notice& notice, const std::string& project);

class Notices {
 public:
  using Connect = std::function<std::unique_ptr<io::HttpClient>()>;

  // Where the settings name nobody, nothing is done.
  Notices(const Configuration& configuration, io::ProcessRunner& processes, Connect connect);
  ~Notices();  // stop()
  // One thread at a time.
  void look(const ProjectSnapshot& snapshot);
  // What is not sent by then stays unsent.
  void stop();

 private:
  void send_all();
  void send(const Notice& notice);
  // True: it is over, by success or by stop().
  bool try_again(const std::string& what, const std::function<Status()>& attempt);
  Status mail(const Notice& notice);
  Status post(const Notice& notice);

  const std::string project_, mail_, webhook_, sendmail_;
  io::ProcessRunner& processes_;
  const Connect connect_;
  NoticeWatch watch_;
  std::mutex mutex_;  // of what follows
  std::condition_variable wake_;
  std::deque<Notice> waiting_;
  bool stopped_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace gleaner::service

// A running manager: commands out, lines in, each within a time limit. After an error the process is of no
// use any more and killed. Between commands it is stopped, with all that it started: it computes and writes
// only while it is asked something. Errors: unavailable (crashed, hung, nonsense, took too much: with its
// last words). Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/io/process.h"
#include "shared/io/standstill.h"

namespace gleaner::contract {

class ManagerProcess {
 public:
  // What it has taken too much of, in words that go on "the application's manager"; empty: nothing. Asked as
  // soon as it runs, and about once a second while it works.
  using Watch = std::function<std::string(const io::Process&)>;

  explicit ManagerProcess(std::unique_ptr<io::Process> process, Watch watch = {})
      : process_(std::move(process)), watch_(std::move(watch)) {}
  ~ManagerProcess();  // asks it to quit, waits a moment, kills it

  // Says `line` (without its line feed), and `more` in the same breath. `limit`: for this command and its
  // answer, until more_time().
  [[nodiscard]] Status command(std::string_view line, Duration limit, std::string_view more = {});
  // Raw bytes that the command announced.
  [[nodiscard]] Status bytes(std::string_view bytes);
  // The next line of the answer.
  [[nodiscard]] Result<std::string> line();
  // It shows that it works: the time limit starts anew.
  void more_time();
  // Its answer is complete: it sleeps until the next command.
  void rest();
  // To be called now and then while it rests: if it uses processor time nevertheless, it is stopped again,
  // and at last killed (shared/io/standstill.h). unavailable: it was killed.
  [[nodiscard]] Status look_at_rest();
  // Nothing may follow an answer until the next command.
  [[nodiscard]] Status end_of_answer();
  // It said `line`, which is not in the contract.
  [[nodiscard]] Error nonsense(std::string_view line, const std::string& expected);

  [[nodiscard]] bool usable();  // still running, without a fault so far

 private:
  enum class Reading { got, nothing, closed };
  Reading read();
  Error failed(const std::string& what);
  Error ended();
  // False once the time is up.
  [[nodiscard]] bool wait_for_output(Duration at_most);

  // Asks the watch, if it is time.
  [[nodiscard]] Status look();

  std::unique_ptr<io::Process> process_;
  Watch watch_;
  SteadyTime look_at_{};
  std::string heard_;         // not taken yet
  std::size_t searched_ = 0;  // of it, without a line feed
  std::string doing_ = "starting";
  Duration limit_{0};
  SteadyTime deadline_{};
  bool broken_ = false;
  bool resting_ = false;
  io::Standstill standstill_;
  std::optional<Duration> cpu_at_rest_;  // at the last look
};

}  // namespace gleaner::contract

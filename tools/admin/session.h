// What a command works with: the world, the global options, the connection to the server (made on first use),
// and how it prints. One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "shared/base/result.h"
#include "tools/admin/api.h"
#include "tools/admin/exit_code.h"
#include "tools/admin/outside.h"
#include "tools/admin/profile.h"
#include "tools/admin/progress.h"
#include "tools/admin/transfer.h"

namespace gleaner::admin {

struct GlobalOptions {
  ConnectionOptions connection;
  bool json = false;
};

class Session {
 public:
  Session(Outside& outside, const GlobalOptions& options) : outside_(outside), options_(options) {}

  [[nodiscard]] Outside& outside() { return outside_; }
  // Standard output is one JSON document; people's text goes to standard error.
  [[nodiscard]] bool json() const { return options_.json; }
  // Lives as long as the session.
  [[nodiscard]] Result<Api*> api();

  // The one JSON document.
  void print_json(const std::string& document) { outside_.out << document << '\n'; }
  // Text for people: standard output, unless that is for JSON.
  [[nodiscard]] std::ostream& people() { return json() ? outside_.error : outside_.out; }
  [[nodiscard]] const Display& people_display() const {
    return json() ? outside_.error_display : outside_.out_display;
  }
  // A yes to a question on the terminal; `yes` answers it beforehand. Errors: invalid if nobody can be asked.
  [[nodiscard]] Result<bool> confirm(const std::string& question, bool yes);

 private:
  Outside& outside_;
  const GlobalOptions& options_;
  std::unique_ptr<Api> api_;
};

// A command, chosen and with its options, ready to be done.
using Action = std::function<Result<ExitCode>(Session&)>;

// A bar on standard error while something is transferred; nothing where that is no terminal.
class TransferBar {
 public:
  TransferBar(Session& session, std::string label)
      : display_(session.outside().error_display),
        text_(session.outside().error, display_),
        label_(std::move(label)) {}
  ~TransferBar() { text_.clear(); }
  TransferBar(const TransferBar&) = delete;
  TransferBar& operator=(const TransferBar&) = delete;
  [[nodiscard]] TransferProgress progress();

 private:
  const Display& display_;
  LiveText text_;
  std::string label_;
};

}  // namespace gleaner::admin

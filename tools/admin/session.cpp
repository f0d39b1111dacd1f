#include "tools/admin/session.h"

#include <algorithm>

#include "tools/admin/figures.h"

namespace gleaner::admin {

Result<Api*> Session::api() {
  if (!api_) {
    TRY_ASSIGN(Connection connection, find_connection(options_.connection, outside_));
    auto http = outside_.connect({connection.vouchers, connection.tls_key});
    api_ = std::make_unique<Api>(std::move(http), std::move(connection), outside_);
  }
  return api_.get();
}

Result<bool> Session::confirm(const std::string& question, bool yes) {
  if (yes) return true;
  const auto answer = outside_.ask(question + " [y/N] ");
  if (!answer)
    return Error{ErrorKind::invalid, "there is no terminal to ask \"" + question + "\": pass --yes"};
  return *answer == "y" || *answer == "Y" || *answer == "yes";
}

TransferProgress TransferBar::progress() {
  return [this](std::int64_t done, std::int64_t total) {
    if (!display_.terminal) return;
    const double fraction = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1;
    const std::string label = fit(label_, std::max(display_.columns / 3, 12));
    const std::string tail = " " + bytes_text(done) + " of " + bytes_text(total);
    const int room = display_.columns - columns_of(label) - columns_of(tail) - 3;
    text_.draw({label + " " + progress_bar(fraction, std::clamp(room, 3, 60), display_) + tail});
  };
}

}  // namespace gleaner::admin

// Progress, as text: a bar, and what a problem is doing in three lines (a terminal) or one (a log). Pure.
// LiveText draws such lines over each other.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "shared/protocol/admin_messages.h"
#include "tools/admin/table.h"

namespace gleaner::admin {

// "[#####...............]", `width` columns altogether; fraction is clamped to [0, 1].
[[nodiscard]] std::string progress_bar(double fraction, int width, const Display& display);

// "44 to 62 s": until the whole problem is done, as the server estimates it; "-" where it does not.
[[nodiscard]] std::string time_left(const protocol::ProblemInfo& problem);
// "44 to 62 s left"; "time left not known yet".
[[nodiscard]] std::string time_left_text(const protocol::ProblemInfo& problem);
// "waits: no host has joined yet ..."; empty: it does not wait.
[[nodiscard]] std::string waits_text(const protocol::ProblemInfo& problem);

// How much of the whole problem is done, by cost. Of a server that does not tell: of the present stage.
[[nodiscard]] double fraction_of(const protocol::ProblemInfo& problem);

// What was computed for nothing, of all stages: "1.3 %". Of a server that does not tell: of the stage in
// hand.
[[nodiscard]] std::string wasted_text(const protocol::ProblemInfo& problem);

[[nodiscard]] Tint tint_of(protocol::ProblemState state);
[[nodiscard]] bool ended(protocol::ProblemState state);

// One line for a log, or the same on three or four lines that fit into the display's columns.
[[nodiscard]] std::vector<std::string> progress_lines(const protocol::ProblemInfo& problem,
                                                      const Display& display);
// How it ended or why it is stopped, in a sentence; REQUIRES: one of the two.
[[nodiscard]] std::string ending_text(const protocol::ProblemInfo& problem);

// Lines that replace the lines drawn before, on a terminal; elsewhere lines just follow each other.
class LiveText {
 public:
  LiveText(std::ostream& out, const Display& display) : out_(out), display_(display) {}
  void draw(const std::vector<std::string>& lines);
  // Removes what is drawn (terminal only), so that other text can be written.
  void clear();
  // Leaves what is drawn where it is.
  void keep() { drawn_ = 0; }

 private:
  std::ostream& out_;
  const Display& display_;
  std::size_t drawn_ = 0;
};

}  // namespace gleaner::admin

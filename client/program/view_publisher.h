// Tells viewers (the screensaver) what the client does: paints finished items into one small picture and
// writes it, with the state in words, to a file that they read. Costs nothing to speak of: written at most
// four times a second while items are finished, and seldom while nothing happens, which spares disks. What
// goes wrong with it is logged once and never stands in the way of computing. On the engine's thread.
#pragma once

#include <memory>
#include <optional>

#include "client/engine/engine.h"
#include "client/engine/item_observer.h"
#include "client/platform/view_writer.h"
#include "client/view/picture.h"

namespace gleaner::program {

// What the manifest declares, with the problem's parameters (JSON text) put in.
[[nodiscard]] view::PictureSpec spec_of(const bundle::ViewDeclaration& declared, int stage,
                                        const std::string& parameters);

class ViewPublisher final : public engine::ItemObserver {
 public:
  explicit ViewPublisher(Clock& clock) : clock_(clock) {}

  // Without this, or after an error, nothing is published.
  [[nodiscard]] Status open(const io::Path& file);
  void item_finished(const engine::Unit& unit, std::int64_t index, std::string_view bytes) override;
  // After each tick of the engine.
  void publish(const engine::Engine& engine, SteadyTime now);
  // When publish() wants to be called although nothing else happens; max(): never.
  [[nodiscard]] SteadyTime wait_until() const;

  static constexpr Duration interval = std::chrono::milliseconds{250};
  static constexpr Duration rest_interval = std::chrono::minutes{2};   // when no item was finished
  static constexpr Duration calm_interval = std::chrono::minutes{20};  // nor anything else is new
  static constexpr Duration stay = std::chrono::seconds{20};           // with a problem, after its last item

 private:
  struct Shown {
    ProblemId problem;
    io::Path project;  // its directory: problems of several projects may have the same number
    int stage = 0;
    view::Picture picture;
    view::PictureView facts;
    SteadyTime last_item;
  };
  [[nodiscard]] Status write(const engine::EngineStatus& status);

  Clock& clock_;
  std::unique_ptr<platform::ViewWriter> writer_;
  std::optional<Shown> shown_;
  std::int64_t pictures_ = 0;
  bool items_ = false;  // finished since the last writing
  view::View last_;     // as written
  SteadyTime written_at_{};
};

// How old what is shown may become although no item was finished: nothing, if other work is done or for
// another state; rest_interval for another reason; else calm_interval.
[[nodiscard]] Duration patience_between(const view::View& shown, const view::View& now);

}  // namespace gleaner::program

// The projects that one engine serves, at least one. Not thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "client/engine/membership.h"

namespace gleaner::engine {

class Memberships {
 public:
  void add(std::unique_ptr<Membership> project) { all_.push_back(std::move(project)); }

  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] bool several() const { return all_.size() > 1; }
  [[nodiscard]] Membership& operator[](std::size_t index) const { return *all_[index]; }
  // REQUIRES: one of them holds it.
  [[nodiscard]] Membership& of(const Unit& unit) const;
  [[nodiscard]] bool all_revoked() const;
  [[nodiscard]] bool nothing_in_hand() const;

 private:
  std::vector<std::unique_ptr<Membership>> all_;
};

}  // namespace gleaner::engine

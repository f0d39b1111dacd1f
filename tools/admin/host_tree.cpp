#include "tools/admin/host_tree.h"

#include <map>

namespace gleaner::admin {
namespace {

class TreeWalk {
 public:
  explicit TreeWalk(const std::vector<TreeMember>& members) : members_(members), seen_(members.size()) {
    for (std::size_t i = 0; i < members.size(); ++i)
      if (members[i].host) places_.emplace(*members[i].host, i);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (has_parent(i)) under_[*members[i].relay].push_back(i);
  }
  std::vector<TreePlace> all() {
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (!has_parent(i)) add(i, 0);
    for (std::size_t i = 0; i < members_.size(); ++i) add(i, 0);  // a ring has no top
    return std::move(order_);
  }

 private:
  [[nodiscard]] bool has_parent(std::size_t i) const {
    return members_[i].relay && places_.contains(*members_[i].relay) && members_[i].relay != members_[i].host;
  }
  // How many counted: it, and those under it. Relays are at most eight above each other.
  std::int64_t add(std::size_t i, int depth) {
    if (seen_[i]) return 0;
    seen_[i] = true;
    const std::size_t at = order_.size();
    order_.push_back({i, depth, 0});
    std::int64_t under = 0;
    if (members_[i].host)
      for (const std::size_t child : under_[*members_[i].host]) under += add(child, depth + 1);
    order_[at].under = under;
    return under + (members_[i].counts ? 1 : 0);
  }

  const std::vector<TreeMember>& members_;
  std::map<HostId, std::size_t> places_;
  std::map<HostId, std::vector<std::size_t>> under_;
  std::vector<bool> seen_;
  std::vector<TreePlace> order_;
};

}  // namespace

std::vector<TreePlace> in_tree(const std::vector<TreeMember>& members) {
  return TreeWalk(members).all();
}

std::string indented(const TreePlace& place, const std::string& name) {
  return std::string(static_cast<std::size_t>(2 * place.depth), ' ') + name;
}

}  // namespace gleaner::admin

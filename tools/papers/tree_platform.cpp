#include "tools/papers/tree_platform.h"

#include <cmath>

namespace gleaner::simulator {
namespace {

constexpr std::size_t nodes = 100, children_max = 10;

double between(Random& random, double low, double high) {
  return low + (high - low) * random.uniform();
}

}  // namespace

planning::TaskTree random_task_tree(std::uint64_t seed, double task_to_result) {
  Random random(seed);
  planning::TaskTree tree;
  tree.nodes.push_back({between(random, 20, 200), 0, 0, 0});
  std::vector<std::size_t> children(nodes, 0);
  while (tree.nodes.size() < nodes) {
    const std::size_t parent = random.below(tree.nodes.size());
    if (children[parent] >= children_max) continue;
    ++children[parent];
    const double w = between(random, 20, 200), c = between(random, 1, 10);
    tree.nodes.push_back({w, c, between(random, 1, 10) / task_to_result, parent});
  }
  return tree;
}

SpeedCycle::SpeedCycle(Random& random, double mean_seconds) {
  for (auto left = random.between(5, 15); left > 0; --left) {
    lengths_.push_back(random.exponential(mean_seconds));
    speeds_.push_back(between(random, 0.01, 1));
    cycle_ += lengths_.back();
    work_ += lengths_.back() * speeds_.back();
  }
}

std::size_t SpeedCycle::level_at(double& time) const {
  time -= std::floor(time / cycle_) * cycle_;
  std::size_t level = 0;
  while (level + 1 < lengths_.size() && time >= lengths_[level]) time -= lengths_[level++];
  return level;
}

double SpeedCycle::at(double time) const {
  return lengths_.empty() ? 1 : speeds_[level_at(time)];
}

double SpeedCycle::end_of(double start, double seconds) const {
  if (lengths_.empty()) return start + seconds;
  const double whole = std::floor(seconds / work_);  // cycles
  double left = seconds - whole * work_, now = start + whole * cycle_, offset = now;
  std::size_t level = level_at(offset);
  for (;;) {
    const double stays = std::max(lengths_[level] - offset, 0.0);
    if (left <= stays * speeds_[level]) return now + left / speeds_[level];
    left -= stays * speeds_[level];
    now += stays;
    offset = 0;
    level = (level + 1) % lengths_.size();
  }
}

PlatformSpeeds steady_speeds(std::size_t count) {
  return {std::vector<SpeedCycle>(count), std::vector<SpeedCycle>(count)};
}

PlatformSpeeds changing_speeds(std::uint64_t seed, std::size_t count, double best_rate) {
  Random random(seed);
  PlatformSpeeds speeds;
  for (std::size_t i = 0; i < count; ++i) {
    speeds.cpu.emplace_back(random, 25 / best_rate);
    speeds.link.emplace_back(random, 25 / best_rate);
  }
  return speeds;
}

planning::TaskTree snapshot(const planning::TaskTree& tree, const PlatformSpeeds& speeds, double time) {
  planning::TaskTree now = tree;
  for (std::size_t i = 0; i < now.nodes.size(); ++i) {
    now.nodes[i].compute /= speeds.cpu[i].at(time);
    now.nodes[i].task_down /= speeds.link[i].at(time);
    now.nodes[i].result_up /= speeds.link[i].at(time);
  }
  return now;
}

}  // namespace gleaner::simulator

// The published values of Ko and Robertazzi, to the printed digits: Tables 1 and 2 (improvement of speed-up
// over EAS in percent, w = 1, z = 0.05, Tcp = Tcm = 1, Tsol = 0.2).
#include <cmath>

#include "shared/planning/multi_installment.h"
#include "shared/planning/plan.h"
#include "shared/planning/replay.h"
#include "shared/planning/single_installment.h"
#include "tests/catch.h"

namespace gleaner::planning {
namespace {

constexpr LoadCost paper{1, 1, 0.2, Duplex::full};
constexpr LoadCost paper_half{1, 1, 0.2, Duplex::half};

// [level - 1][arity - 1]
constexpr double table1[4][4] = {{3.0000, 4.8657, 6.6068, 8.2321},
                                 {7.7911, 13.2612, 18.8595, 23.6171},
                                 {14.0182, 22.4653, 29.0953, 31.5415},
                                 {21.3361, 29.3861, 32.7270, 26.7681}};
constexpr double table2[4][4] = {{3.0000, 4.8657, 6.6068, 8.2321},
                                 {9.5714, 18.6093, 26.8686, 32.4850},
                                 {20.2847, 43.5657, 49.8413, 36.7902},
                                 {34.6968, 70.2669, 42.7284, 20.8299}};

LoadTree paper_tree(std::size_t levels, std::size_t arity) {
  return complete_tree(levels, arity, 1, 0.05);
}

double printed(double value, double digits) {
  return std::round(value * digits) / digits;
}

}  // namespace

TEST_CASE("Table 1: SOS over EAS, 16 cells", "[published]") {
  for (std::size_t level = 1; level <= 4; ++level) {
    for (std::size_t arity = 1; arity <= 4; ++arity) {
      INFO("L " << level << " K " << arity);
      const LoadTree tree = paper_tree(level, arity);
      const double eas = equal_finish(tree, paper).value();
      const SequentialPlan sos = plan_sequential(tree, paper, Prune::none);
      const bool flagged = level == 4 && arity == 4;  // the only one that fails the validity test
      CHECK(sos.early_reports.empty() == !flagged);
      const double replayed = replay_whole(tree, paper_half, sos.shares).finish;
      CHECK(printed(100 * (eas / replayed - 1), 1e4) == Approx(table1[level - 1][arity - 1]).epsilon(1e-12));
      const double formula = printed(100 * (eas / sos.finish - 1), 1e4);
      CHECK(formula == Approx(flagged ? 31.6407 : table1[level - 1][arity - 1]).epsilon(1e-12));
      CHECK(replay_whole(tree, paper, sos.shares).finish == Approx(sos.finish).epsilon(1e-12));
    }
  }
}

TEST_CASE("Table 2: MOS over EAS, 16 cells, the last of them no schedule", "[published]") {
  for (std::size_t level = 1; level <= 4; ++level) {
    for (std::size_t arity = 1; arity <= 4; ++arity) {
      INFO("L " << level << " K " << arity);
      const LoadTree tree = paper_tree(level, arity);
      const double eas = equal_finish(tree, paper).value();
      const InstallmentPlan mos = plan_installments(tree, paper);
      CHECK(printed(100 * (eas / mos.formula - 1), 1e4) ==
            Approx(table2[level - 1][arity - 1]).epsilon(1e-12));
      const bool flagged = level == 4 && arity == 4;
      CHECK(mos.feasible == !flagged);
      CHECK(mos.usable_levels == (flagged ? 3 : level));
      if (!flagged) CHECK(mos.finish == mos.formula);
    }
  }
  const InstallmentPlan last = plan_installments(paper_tree(4, 4), paper);
  CHECK(last.y.at(3) == Approx(-8.8925).margin(5e-5));
  CHECK(last.finish == Approx(0.057366).margin(5e-7));
  CHECK(*std::min_element(last.formula_shares.begin(), last.formula_shares.end()) ==
        Approx(-1.42e-3).margin(5e-6));
  CHECK(*std::min_element(last.shares.begin(), last.shares.end()) == 0);
}

TEST_CASE("finish times behind the tables", "[published]") {
  const double eas[] = {0.53, 0.393333, 0.34, 0.32};
  for (std::size_t level = 1; level <= 4; ++level)
    CHECK(equal_finish(paper_tree(level, 1), paper).value() == Approx(eas[level - 1]).margin(5e-7));
  CHECK(equal_finish(paper_tree(4, 4), paper).value() == Approx(0.071906).margin(5e-7));
  CHECK(plan_sequential(paper_tree(2, 2), paper, Prune::none).finish == Approx(0.181628).margin(5e-7));
  CHECK(plan_sequential(paper_tree(3, 3), paper, Prune::none).finish == Approx(0.075138).margin(5e-7));
  CHECK(plan_installments(paper_tree(2, 2), paper).finish == Approx(0.173439).margin(5e-7));
  CHECK(plan_installments(paper_tree(3, 3), paper).finish == Approx(0.064735).margin(5e-7));
  CHECK(plan_installments(paper_tree(4, 2), paper).finish == Approx(0.073130).margin(5e-7));
  // L = K = 4 by the validity rule: (1 - root's share) z (Tcm + Tsol).
  const SequentialPlan sos = plan_sequential(paper_tree(4, 4), paper, Prune::none);
  CHECK(1 - sos.shares[0] == Approx(0.945377).margin(5e-7));
  CHECK(replay_whole(paper_tree(4, 4), paper_half, sos.shares).finish == Approx(0.0567226).margin(5e-8));
  CHECK(sos.finish == Approx(0.0546230).margin(5e-8));
}

TEST_CASE("EAS: closed form and replay agree, full and half duplex", "[published]") {
  for (std::size_t level = 0; level <= 4; ++level) {
    for (std::size_t arity = 1; arity <= 5; ++arity) {
      const LoadTree tree = paper_tree(level, arity);
      const double formula = equal_finish(tree, paper).value();
      CHECK(replay_whole(tree, paper, equal_shares(tree)).finish == Approx(formula).epsilon(1e-12));
      CHECK(replay_whole(tree, paper_half, equal_shares(tree)).finish == Approx(formula).epsilon(1e-12));
    }
  }
}

TEST_CASE("MOS: what the formula does not know costs up to 0.28 %, on one port up to 9.3 %", "[published]") {
  double worst = 0, worst_half = 0;
  for (std::size_t level = 1; level <= 4; ++level) {
    for (std::size_t arity = 1; arity <= 4; ++arity) {
      const LoadTree tree = paper_tree(level, arity);
      const InstallmentPlan mos = plan_installments(tree, paper);
      if (!mos.feasible) continue;
      const double full = replay_installments(tree, paper, mos.shares, mos.order).finish / mos.finish - 1;
      const double half =
          replay_installments(tree, paper_half, mos.shares, mos.order).finish / mos.finish - 1;
      CHECK(full > -1e-12);
      worst = std::max(worst, full);
      worst_half = std::max(worst_half, half);
      if (level == 4 && arity == 1) CHECK(half == Approx(0.0927).margin(5e-5));
    }
  }
  CHECK(worst == Approx(0.0028).margin(1e-4));
  CHECK(worst_half == Approx(0.093).margin(5e-4));
}

TEST_CASE("the plan of the last cell says what is wrong with it", "[published]") {
  const LoadTree tree = paper_tree(4, 4);
  const FleetPlan full = plan_fleet(tree, paper).value();
  CHECK(full.sos.closed_form.value() == Approx(full.sos.finish).epsilon(1e-12));
  CHECK(full.sos.warnings.empty());
  CHECK_FALSE(full.mos.feasible);
  REQUIRE(full.mos.warnings.size() == 1);
  CHECK(full.mos.warnings[0].find("infeasible beyond level 3") != std::string::npos);
  CHECK(full.mos.left_out.size() == 256);
  const FleetPlan half = plan_fleet(tree, paper_half).value();
  CHECK(half.sos.finish == Approx(0.0567226).margin(5e-8));
  CHECK(half.sos.warnings.at(0).find("validity test failed at root") != std::string::npos);
  CHECK(half.optimum.value().finish == Approx(0.0566038).margin(5e-8));
  CHECK(half.best().finish <= half.optimum->finish * (1 + 1e-9));
}

}  // namespace gleaner::planning

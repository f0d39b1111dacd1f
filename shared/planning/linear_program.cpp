#include "shared/planning/linear_program.h"

#include <glpk.h>

#include <cmath>
#include <memory>
#include <string>

namespace gleaner::planning {
namespace {

struct Delete {
  void operator()(glp_prob* program) const { glp_delete_prob(program); }
};

// The simplex method may go round in circles on a degenerate program, for ever: after many more steps than a
// program of this size needs it begins again another way. Returns GLPK's fault.
int optimise(glp_prob* program) {
  constexpr int steps_per_row = 50, steps_least = 1000;
  constexpr double exact = 1e-9, usual = 1e-7;
  struct Way {
    int method;
    int pricing;
    double tolerance;
    bool advanced_basis;
  };
  constexpr Way ways[] = {{GLP_PRIMAL, GLP_PT_PSE, exact, true},
                          {GLP_PRIMAL, GLP_PT_STD, exact, false},
                          {GLP_DUALP, GLP_PT_PSE, exact, false},
                          {GLP_PRIMAL, GLP_PT_STD, usual, false}};
  int fault = 0;
  for (const Way& way : ways) {
    glp_smcp settings;
    glp_init_smcp(&settings);
    settings.msg_lev = GLP_MSG_OFF;
    settings.meth = way.method;
    settings.pricing = way.pricing;
    settings.tol_bnd = settings.tol_dj = way.tolerance;
    settings.it_lim = steps_least + steps_per_row * glp_get_num_rows(program);
    if (way.advanced_basis) {
      glp_adv_basis(program, 0);
    } else {
      glp_std_basis(program);
    }
    fault = glp_simplex(program, &settings);
    if (fault == 0 && glp_get_status(program) == GLP_OPT) return 0;
  }
  return fault;
}

// GLPK counts from 1.
int number(std::size_t index) {
  return static_cast<int>(index) + 1;
}

}  // namespace

std::size_t LinearProgram::add_column(double weight, double most) {
  columns_.push_back({weight, most});
  return columns_.size() - 1;
}

void LinearProgram::add_at_most(std::vector<Term> sum, double most) {
  rows_.push_back({std::move(sum), most, false});
}

void LinearProgram::add_equal(std::vector<Term> sum, double value) {
  rows_.push_back({std::move(sum), value, true});
}

Result<LinearProgram::Solution> LinearProgram::solve() const {
  glp_term_out(GLP_OFF);  // per thread
  const std::unique_ptr<glp_prob, Delete> program(glp_create_prob());
  glp_set_obj_dir(program.get(), goal_ == Goal::minimise ? GLP_MIN : GLP_MAX);
  glp_add_cols(program.get(), static_cast<int>(columns_.size()));
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const bool bounded = std::isfinite(columns_[c].most);
    const int kind = !bounded ? GLP_LO : columns_[c].most > 0 ? GLP_DB : GLP_FX;
    glp_set_col_bnds(program.get(), number(c), kind, 0, bounded ? columns_[c].most : 0);
    glp_set_obj_coef(program.get(), number(c), columns_[c].weight);
  }
  if (!rows_.empty()) glp_add_rows(program.get(), static_cast<int>(rows_.size()));
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    std::vector<int> indices{0};
    std::vector<double> factors{0};
    for (const Term& term : row.sum) {
      if (term.factor == 0) continue;
      indices.push_back(number(term.column));
      factors.push_back(term.factor);
    }
    glp_set_mat_row(program.get(), number(r), static_cast<int>(indices.size()) - 1, indices.data(),
                    factors.data());
    glp_set_row_bnds(program.get(), number(r), row.equal ? GLP_FX : GLP_UP, row.bound, row.bound);
  }
  glp_scale_prob(program.get(), GLP_SF_AUTO);
  const int fault = optimise(program.get());
  if (fault != 0 || glp_get_status(program.get()) != GLP_OPT)
    return Error{ErrorKind::internal, "the linear program has no optimum (GLPK's fault " +
                                          std::to_string(fault) + ", status " +
                                          std::to_string(glp_get_status(program.get())) + ")"};
  Solution solution;
  solution.value = glp_get_obj_val(program.get());
  for (std::size_t c = 0; c < columns_.size(); ++c)
    solution.columns.push_back(std::max(glp_get_col_prim(program.get(), number(c)), 0.0));
  return solution;
}

}  // namespace gleaner::planning

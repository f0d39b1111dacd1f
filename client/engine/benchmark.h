// The Linpack benchmark: solves a dense system of 500 equations in double precision by LU factorisation with
// partial pivoting, checks the residual, counts 2/3 n^3 + 2 n^2 floating-point operations (Dongarra,
// Luszczek, Petitet 2003), and divides by CPU time of the calling thread, so that other load does not show.
// Takes about half a second.
#pragma once

#include "shared/base/result.h"

namespace gleaner::engine {

struct LinpackResult {
  double mflops = 0;    // median of the runs
  double residual = 0;  // normalised: |Ax-b| / (|A| |x| n eps), largest of the runs
};

// internal if a residual is over 16 (the customary bound): the machine computes wrongly.
[[nodiscard]] Result<LinpackResult> run_linpack(int equations = 500, int runs = 5);

}  // namespace gleaner::engine

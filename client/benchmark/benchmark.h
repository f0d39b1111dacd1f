// The Linpack benchmark: solves a dense system of 500 equations in double precision by LU factorisation with
// partial pivoting, checks the residual, counts 2/3 n^3 + 2 n^2 floating-point operations (Dongarra,
// Luszczek, Petitet 2003), and divides by CPU time of the calling thread, so that other load does not show;
// about half a second. And what needs the clock on the wall: the same on all cores at once, and how fast
// memory is (a STREAM triad, McCalpin 1995).
#pragma once

#include "shared/base/result.h"

namespace gleaner::benchmark {

struct LinpackResult {
  double mflops = 0;    // median of the runs
  double residual = 0;  // normalised: |Ax-b| / (|A| |x| n eps), largest of the runs
};

// internal if a residual is over 16 (the customary bound): the machine computes wrongly.
[[nodiscard]] Result<LinpackResult> run_linpack(int equations = 500, int runs = 5);

// The sum over `cores` threads that factorise at once, MFLOP/s by the wall's clock: cores that share
// something, or are busy elsewhere, show. The calling thread's priority is the others' too. internal as
// above.
[[nodiscard]] Result<double> run_linpack_on_all(int cores, int equations = 500, int runs = 3);

// Bytes a second that one core reads and writes in a[i] = b[i] + s c[i], the best of some passes; three
// arrays of `bytes` each, larger than what processors keep near.
[[nodiscard]] double run_triad(std::size_t bytes = 16 << 20);

}  // namespace gleaner::benchmark

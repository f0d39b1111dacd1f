// The bounds of estimates, and the two ratios made of them: (4.3) and (4.4) of Page 2009. By the bounds both
// are finite and above 0. Pure; seconds.
#pragma once

namespace gleaner::policy {

inline constexpr double least_seconds = 1e-3;  // of a computation, of a transfer, and of a measured time
inline constexpr double least_error = 1e-3;    // predicted relative errors
inline constexpr double largest_error = 10;
inline constexpr double unknown_error = 1;  // nothing known: 100 %

// At least least_seconds; what is not a number too.
[[nodiscard]] double clamped_seconds(double seconds);
// Within the bounds of errors; what is not a number: unknown_error.
[[nodiscard]] double clamped_error(double error);
// CCR = ETC / C.
[[nodiscard]] double computation_to_communication(double computation, double communication);
// EW = ET / CCR = ET * C / ETC.
[[nodiscard]] double error_weight(double error, double computation, double communication);

}  // namespace gleaner::policy

// Several hosts' results of the same item: who is right. The caller says which opinions agree (exact bytes or
// the application's own comparison). Opinions that agree form a class, and each class, or none of them, may
// be the right one (Sarmenta 2001, section 4.3, with two wrong answers the same by chance):
//
//   P(class k is right) ~ product of r_i over its opinions x product of (1 - r_j) over the others
//                         x coincidence ^ (agreeing opinions beyond the first of each wrong class)
//
// with r the reliability of who gave the opinion. A class is right when its odds against all else reach what
// is asked, and when at least two parties gave it, or one of the project's own hosts. Pure.
//
// Parties: newcomers that may have arranged an answer with one another (parties.h) count once, however many
// they are, and not at all beside a known host of their party that says the same. So a class has as many
// parties as it has known hosts, and parties of newcomers without one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shared/base/ids.h"

namespace gleaner::policy {

struct Opinion {
  HostId host;
  SegmentId segment;
  double reliability = 0.9;  // that the host's answer is right
  bool own = false;          // of the project's own
  std::int64_t party = 0;    // who can have arranged an answer with whom; 0: the host alone
  bool known = false;        // enough of its results were verified that it counts beside others of its party
};

enum class VerdictKind : int { agree = 1, need_another = 2, decided = 3, undecided = 4 };

struct Verdict {
  VerdictKind kind = VerdictKind::agree;
  std::vector<std::size_t> right;  // indices into the opinions
  std::vector<std::size_t> wrong;
  bool differ = false;                    // some opinions do
  bool independent = false;               // what is right was given by an own host, or by several parties
  std::vector<std::size_t> classes = {};  // of each opinion, which agree with it: the class's number
};

inline constexpr std::size_t opinions_least = 5, opinions_most = 12;

struct VerdictTerms {
  double odds = 100;
  double coincidence = 0.01;
  int agree_min = 1;  // parties that have to agree (quorum); of answers that differ at least two
  int opinions_max = opinions_most;  // parties asked before it is given up
};
// Of how many parties the opinions are.
[[nodiscard]] std::size_t count_parties(std::span<const Opinion> opinions);
// Of a fleet of so many hosts: all of them, five at least, twelve at most. With five, where 30 % of the hosts
// always lied, 14 of 20 problems set items aside, with twelve none did (TRUST.md); and who asks for more than
// there are waits for ever.
[[nodiscard]] int opinions_max(std::size_t hosts, int quorum);

// `same(i, j)`: do opinions i and j agree?
[[nodiscard]] Verdict judge(std::span<const Opinion> opinions,
                            const std::function<bool(std::size_t, std::size_t)>& same,
                            const VerdictTerms& terms);

}  // namespace gleaner::policy

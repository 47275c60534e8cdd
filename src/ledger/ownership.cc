// SPDX-License-Identifier: Apache-2.0
#include "ledger/ownership.h"

#include <algorithm>
#include <queue>
#include <span>
#include <tuple>

namespace goodput::ledger {

namespace {

auto rank_of(const Claim& claim) {
  return std::tuple(is_elastic(claim.time_class), claim.time_class == TimeClass::kElasticReinitialization,
                    claim.start_ns, claim.sequence);
}

struct OuterFirst {
  bool operator()(const Claim* a, const Claim* b) const { return rank_of(*a) < rank_of(*b); }
};

void put(std::vector<Owned>& out, const Claim& owner, int64_t from_ns, int64_t to_ns) {
  if (from_ns < to_ns) out.push_back({from_ns, to_ns, owner.time_class, owner.custom});
}

/// `claims` lie in [from_ns, to_ns) and are sorted by start; the front of the queue owns until something more inner
/// starts.
void sweep(std::span<const Claim> claims, std::vector<Owned>& out) {
  std::priority_queue<const Claim*, std::vector<const Claim*>, OuterFirst> covering;
  int64_t at_ns = 0;
  const auto advance_to = [&](int64_t to_ns) {
    while (!covering.empty() && at_ns < to_ns) {
      const Claim& owner = *covering.top();
      if (owner.end_ns <= at_ns) {
        covering.pop();
        continue;
      }
      const int64_t until_ns = std::min(owner.end_ns, to_ns);
      put(out, owner, at_ns, until_ns);
      at_ns = until_ns;
    }
    at_ns = to_ns;
  };
  for (const Claim& claim : claims) {
    advance_to(claim.start_ns);
    covering.push(&claim);
  }
  advance_to(kNoStep);
}

bool disjoint(std::span<const Claim> claims) {
  for (size_t i = 1; i < claims.size(); ++i) {
    if (claims[i].start_ns < claims[i - 1].end_ns) return false;
  }
  return true;
}

}  // namespace

std::vector<Owned> owned_time(const Region& region) {
  std::vector<Claim> claims;
  claims.reserve(region.claims.size());
  for (Claim claim : region.claims) {
    if (claim.attempt >= region.attempts_end) continue;
    const AttemptSpan& attempt = region.attempts[claim.attempt];
    int64_t end_ns = region.end_ns;
    if (region.ends_in(claim.attempt) && attempt.followed) end_ns = std::min(end_ns, attempt.next_start_ns);
    // The rank of a claim is that of its true start; only the time that it is swept over is clipped.
    claim.end_ns = std::min(claim.end_ns, end_ns);
    if (claim.start_ns < claim.end_ns && claim.end_ns > region.begin_ns) claims.push_back(claim);
  }
  std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    return std::tie(a.attempt, a.start_ns, a.sequence) < std::tie(b.attempt, b.start_ns, b.sequence);
  });
  std::vector<Owned> out;
  out.reserve(claims.size());
  if (disjoint(claims)) {
    for (const Claim& claim : claims) put(out, claim, std::max(claim.start_ns, region.begin_ns), claim.end_ns);
    return out;
  }
  for (size_t begin = 0; begin < claims.size();) {
    size_t end = begin;
    while (end < claims.size() && claims[end].attempt == claims[begin].attempt) ++end;
    sweep(std::span(claims).subspan(begin, end - begin), out);
    begin = end;
  }
  // Claims that began before the region were swept from their start.
  size_t kept = 0;
  for (const Owned& owned : out) {
    if (owned.end_ns <= region.begin_ns) continue;
    out[kept] = owned;
    out[kept].start_ns = std::max(owned.start_ns, region.begin_ns);
    ++kept;
  }
  out.resize(kept);
  return out;
}

}  // namespace goodput::ledger

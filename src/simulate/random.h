// Random numbers that are the same on every machine, which the distributions of <random> are not.
//
//   Random random(seed);
//   const double seconds = random.gaussian(0.35, 0.0035);
//
// One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace goodput::simulate {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  /// SplitMix64 (Steele, Lea, Flood 2014): passes BigCrush, and its state is one word.
  uint64_t bits() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  /// In (0, 1).
  double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }

  /// By the polar method, which asks libm for a logarithm and a root only.
  double gaussian(double mean, double deviation) {
    if (has_spare_) {
      has_spare_ = false;
      return mean + deviation * spare_;
    }
    double x = 0;
    double y = 0;
    double square = 0;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1);
    const double scale = std::sqrt(-2 * std::log(square) / square);
    spare_ = y * scale;
    has_spare_ = true;
    return mean + deviation * x * scale;
  }

  double exponential(double mean) { return -std::log(uniform()) * mean; }

  /// Around `middle` (the median), never negative, now and then several times as long: how start-up times are.
  double skewed(double middle, double spread = 0.25) { return middle * std::exp(gaussian(0, spread)); }

  bool happens(double probability) { return uniform() < probability; }

 private:
  uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace goodput::simulate

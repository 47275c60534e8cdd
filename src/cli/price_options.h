// `--price` and `--currency`: what an accelerator-hour costs.
//
//   add_price_options(app, options.price);
//   ASSIGN_OR_RETURN(const PriceChoice price, resolve(options.price));
//   question.price = price_for(price, context.config, accelerator_type);
//
// The option struct must live as long as the app. Nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/config.h"
#include "report/cost.h"

namespace CLI {
class App;
}

namespace goodput::cli {

/// As typed.
struct PriceOptions {
  std::string price, currency;
};

/// As meant. Empty: not said.
struct PriceChoice {
  std::optional<double> price;  ///< per accelerator-hour
  std::optional<std::string> currency;
};

void add_price_options(CLI::App& app, PriceOptions& options);

/// kInvalidArgument, naming the option, for what makes no sense.
Result<PriceChoice> resolve(const PriceOptions& options);

/// The price of --price, GOODPUT_PRICE or `price` in the configuration; else that of the accelerator type in
/// `[prices]`.
std::optional<report::Price> price_for(const PriceChoice& choice, const Config& config,
                                       std::string_view accelerator_type);

/// A number from 0 on. kInvalidArgument for anything else.
Result<double> parse_amount(std::string_view text);

}  // namespace goodput::cli

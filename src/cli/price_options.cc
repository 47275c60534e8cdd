// SPDX-License-Identifier: Apache-2.0
#include "cli/price_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

namespace goodput::cli {

void add_price_options(CLI::App& app, PriceOptions& options) {
  app.add_option("--price", options.price, "what an accelerator-hour costs")
      ->type_name("PRICE")
      ->envname("GOODPUT_PRICE");
  app.add_option("--currency", options.currency, "of the price; USD unless told")
      ->type_name("CODE")
      ->envname("GOODPUT_CURRENCY");
}

Result<PriceChoice> resolve(const PriceOptions& options) {
  PriceChoice choice;
  if (!options.price.empty()) {
    const Result<double> price = parse_amount(options.price);
    if (!price.ok()) return Status(StatusCode::kInvalidArgument, "--price: " + price.status().message());
    choice.price = *price;
  }
  if (!options.currency.empty()) choice.currency = options.currency;
  return choice;
}

std::optional<report::Price> price_for(const PriceChoice& choice, const Config& config,
                                       std::string_view accelerator_type) {
  const std::optional<double> amount = choice.price ? choice.price : config.price_of(accelerator_type);
  if (!amount) return std::nullopt;
  return report::Price{.per_accelerator_hour = *amount, .currency = choice.currency.value_or("USD")};
}

Result<double> parse_amount(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(value) || value < 0) {
    return Status(StatusCode::kInvalidArgument, fmt::format("\"{}\" is not a number from 0 on", text));
  }
  return value;
}

}  // namespace goodput::cli

// What a log does to the entries of a random history once a job has written them.
//
//   redeliver(history, chance);
//   disorder(history, chance);
//   number(history, chance);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/histories.h"

namespace goodput::reference {

/// Copies of entries at any distance behind them; of an untimed entry always, where there is one.
void redeliver(History& history, Chance& chance);
/// Neighbours change places, and some entries move far.
void disorder(History& history, Chance& chance);
/// Positions: places in an imported log, with gaps for what is no event; recording times in journals.
void number(History& history, Chance& chance);

}  // namespace goodput::reference

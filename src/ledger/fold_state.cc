// SPDX-License-Identifier: Apache-2.0
#include "ledger/fold_state.h"

#include "ledger/codec.h"

namespace goodput::ledger {

std::string FoldState::encode() const {
  std::string out;
  Writer writer(out);
  FoldState copy = *this;
  fields(writer, copy);
  return out;
}

bool FoldState::decode(std::span<const std::byte>& in, FoldState& out) {
  Reader reader(in);
  fields(reader, out);
  in = reader.rest();
  return !reader.failed();
}

}  // namespace goodput::ledger

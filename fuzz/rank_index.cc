// Any bytes as an index of ranks. One half of the inputs are its two parts, framed and given their checksums, so that
// the decoders behind the checksums are reached.
//
// The first byte chooses; of a framed input the next two say how long the first part is.
// SPDX-License-Identifier: Apache-2.0
#include "journal/rank_index.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/checksum.h"

namespace goodput::journal {
namespace {

/// The head of a good index, with the parts and checksums of another.
std::vector<std::byte> framed(std::span<const std::byte> input) {
  constexpr size_t kHeadBytes = 32;
  uint16_t facts_bytes = 0;
  if (input.size() < sizeof(facts_bytes)) return {};
  std::memcpy(&facts_bytes, input.data(), sizeof(facts_bytes));
  input = input.subspan(sizeof(facts_bytes));
  const auto facts = input.first(std::min<size_t>(facts_bytes, input.size()));
  const auto events = input.subspan(facts.size());
  std::vector<std::byte> bytes = encode_index({});
  bytes.resize(kHeadBytes);
  const std::array<uint32_t, 4> words = {static_cast<uint32_t>(facts.size()), crc32c(facts),
                                         static_cast<uint32_t>(events.size()), crc32c(events)};
  std::memcpy(bytes.data() + 12, words.data(), sizeof(words));
  const uint32_t checksum = crc32c_around(bytes, kHeadBytes - sizeof(uint32_t));
  std::memcpy(bytes.data() + kHeadBytes - sizeof(checksum), &checksum, sizeof(checksum));
  bytes.insert(bytes.end(), input.begin(), input.end());
  return bytes;
}

}  // namespace
}  // namespace goodput::journal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* start, size_t size) {
  using namespace goodput::journal;
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(start + 1, size - 1));
  const std::vector<std::byte> file =
      start[0] % 2 == 0 ? std::vector<std::byte>(input.begin(), input.end()) : framed(input);
  (void)decode_index_facts(file);
  const goodput::Result<RankIndex> index = decode_index(file);
  if (!index.ok()) return 0;
  // What was read can be written again, whatever it is.
  const goodput::Result<RankIndex> again = decode_index(encode_index(*index));
  CHECK(again.ok() && again->journals == index->journals && again->events.size() == index->events.size());
  return 0;
}

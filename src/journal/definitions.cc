// SPDX-License-Identifier: Apache-2.0
#include "journal/definitions.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/checksum.h"

namespace goodput::journal {
namespace {

/// Over offset, id, length and the text with its padding, so that a record that moved does not check.
uint32_t definition_checksum(uint32_t seed, uint32_t offset, uint32_t id_and_length, std::string_view text) {
  uint32_t crc = crc32c_word(seed, (uint64_t{id_and_length} << 32) | offset);
  for (size_t at = 0; at < text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min<size_t>(text.size() - at, 8));
    crc = crc32c_word(crc, word);
  }
  return crc;
}

/// The definition at `offset`, or one with id 0 when none is intact there.
Definition definition_at(std::span<const std::byte> area, size_t offset, uint32_t seed) {
  if (offset + kDefinitionHeadBytes > area.size()) return {};
  uint32_t checksum = 0;
  uint32_t id_and_length = 0;
  std::memcpy(&checksum, area.data() + offset, sizeof(checksum));
  std::memcpy(&id_and_length, area.data() + offset + sizeof(checksum), sizeof(id_and_length));
  const size_t length = id_and_length >> 16;
  if (id_and_length == 0 || offset + kDefinitionHeadBytes + length > area.size()) return {};
  const std::string_view text(reinterpret_cast<const char*>(area.data()) + offset + kDefinitionHeadBytes, length);
  if (checksum != definition_checksum(seed, static_cast<uint32_t>(offset), id_and_length, text)) return {};
  return {static_cast<uint16_t>(id_and_length), text};
}

/// By words, of which the first, with the checksum, is the last to be stored: a keeper may be copying the page
/// meanwhile.
void put_copy(std::byte* at, uint32_t checksum, uint32_t id_and_length, std::string_view text) {
  auto* words = reinterpret_cast<uint64_t*>(at);
  for (size_t done = 0; done < text.size(); done += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + done, std::min<size_t>(text.size() - done, 8));
    std::atomic_ref(words[1 + done / 8]).store(word, std::memory_order_relaxed);
  }
  std::atomic_ref(words[0]).store((uint64_t{id_and_length} << 32) | checksum, std::memory_order_release);
}

}  // namespace

void put_definition(std::byte* area, std::byte* mirror, uint32_t offset, uint16_t id, std::string_view text,
                    uint32_t seed) {
  const uint32_t id_and_length = (static_cast<uint32_t>(text.size()) << 16) | id;
  const uint32_t checksum = definition_checksum(seed, offset, id_and_length, text);
  put_copy(area + offset, checksum, id_and_length, text);
  put_copy(mirror + offset, checksum, id_and_length, text);
}

std::vector<Definition> read_definitions(std::span<const std::byte> area, std::span<const std::byte> mirror,
                                         uint32_t seed) {
  std::vector<Definition> found;
  const size_t end = area.size() > mirror.size() ? area.size() : mirror.size();
  for (size_t offset = 0; offset + kDefinitionHeadBytes <= end;) {
    Definition definition = definition_at(area, offset, seed);
    if (definition.id == 0) definition = definition_at(mirror, offset, seed);
    if (definition.id == 0) {
      offset += kDefinitionAlignment;  // never written, half written by a writer that was killed, or damaged twice
      continue;
    }
    found.push_back(definition);
    offset += definition_bytes(definition.text);
  }
  return found;
}

}  // namespace goodput::journal

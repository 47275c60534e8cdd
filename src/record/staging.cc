// SPDX-License-Identifier: Apache-2.0
#include "record/staging.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <span>

#include "base/checksum.h"
#include "journal/folder_names.h"
#include "record/system_calls.h"

namespace goodput::record {
namespace {

constexpr size_t kWordsPerPage = journal::kPageBytes / sizeof(uint64_t);
constexpr size_t kWordsPerSlot = journal::kSlotBytes / sizeof(uint64_t);
using Page = std::array<uint64_t, kWordsPerPage>;

/// Copies a page that others are writing, and returns how many of its slots were committed. Of each slot the committing
/// word is read first: when it is there, the others are.
uint32_t read_page(const std::byte* at, Page& page) {
  uint32_t committed = 0;
  for (size_t word = 0; word < kWordsPerPage; ++word) {
    auto* from = reinterpret_cast<uint64_t*>(const_cast<std::byte*>(at)) + word;
    page[word] = std::atomic_ref(*from).load(std::memory_order_acquire);
    if (word % kWordsPerSlot == 0 && page[word] != 0) ++committed;
  }
  return committed;
}

std::string own_name(const char* above) { return std::string(above) + "/goodput-staging-" + std::to_string(geteuid()); }

}  // namespace

std::vector<journal::Root> staging_roots(const journal::Environment& environment) {
  if (const auto named = environment("GOODPUT_STAGING_DIR")) return {{.path = *named}};
  std::vector<journal::Root> roots = {{.path = own_name("/dev/shm"), .in_public_place = true}};
  if (const auto temporary = environment("TMPDIR")) {
    roots.push_back({.path = own_name(temporary->c_str()), .in_public_place = true});
  }
  roots.push_back({.path = own_name("/tmp"), .in_public_place = true});
  return roots;
}

Staging::Staging(JournalFolder::Place place, const journal::Environment& environment)
    : is_forced_(environment("GOODPUT_STAGING_DIR").has_value()), folder_([&] {
        place.roots = staging_roots(environment);
        place.must_map_in_place = true;
        return place;
      }()) {}

Staging::~Staging() {
  for (auto& [number, copy] : copies_) close(copy.fd);
}

bool Staging::is_needed(int destination_fd) const { return is_forced_ || !can_map_in_place(destination_fd); }

int Staging::open(const std::string& destination_root) {
  if (const int error = folder_.open(); error != 0) return error;
  const int fd = system_calls.open_at(folder_.fd(), kDestinationFile, O_WRONLY | O_CREAT | O_TRUNC);
  if (fd < 0) return -fd;
  const int error = system_calls.write_at(fd, std::as_bytes(std::span(destination_root)), 0);
  close(fd);
  return error;
}

int Staging::open_copy(const LiveSegment& segment, int destination_fd, Copy*& copy) {
  copy = &copies_[segment.number];
  struct stat facts;
  if (copy->fd >= 0 && system_calls.facts(copy->fd, &facts) == 0 && facts.st_nlink == 0) {
    close(copy->fd);  // the folder was deleted: all of it again
    copy->fd = -1;
  }
  if (copy->fd >= 0) return 0;
  const int fd = system_calls.open_at(destination_fd, SegmentName(segment.number).c_str(), O_RDWR | O_CREAT);
  if (fd < 0) return -fd;
  copy->fd = fd;
  copy->states.assign(segment.layout.segment_bytes / journal::kPageBytes, 0);
  return 0;
}

int Staging::copy(const LiveSegment& segment, int destination_fd) {
  Copy* copy = nullptr;
  if (const int error = open_copy(segment, destination_fd, copy); error != 0) return error;
  const journal::LiveLayout& layout = segment.layout;
  // From the last page to the first: a copy that is cut off in the middle has its mirror header, and its size.
  for (size_t i = copy->states.size(); i-- > 0;) {
    const size_t offset = i * journal::kPageBytes;
    Page page;
    const bool is_run = offset >= layout.runs_offset && offset < layout.mirror_definitions_offset;
    const uint32_t slots = read_page(segment.base + offset, page);
    const uint32_t state = is_run ? slots : crc32c(std::as_bytes(std::span(page)));
    if (state == copy->states[i]) continue;
    if (const int error = system_calls.write_at(copy->fd, std::as_bytes(std::span(page)), offset); error != 0)
      return error;
    copy->states[i] = state;
  }
  return 0;
}

int Staging::release_copy(uint32_t number) {
  const auto found = copies_.find(number);
  if (found == copies_.end()) return -1;
  const int fd = found->second.fd;
  copies_.erase(found);
  return fd;
}

int Staging::sync() {
  int first_error = 0;
  for (const auto& [number, copy] : copies_) {
    const int error = copy.fd < 0 ? 0 : system_calls.sync(copy.fd);
    if (first_error == 0) first_error = error;
  }
  return first_error;
}

void Staging::remove() {
  if (!is_open()) return;
  system_calls.remove_at(folder_.fd(), kDestinationFile);
  folder_.remove();
}

}  // namespace goodput::record

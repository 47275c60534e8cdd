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

constexpr size_t kWordsPerSlot = journal::kSlotBytes / sizeof(uint64_t);

/// Copies a page that others are writing, and returns how many of its slots were committed. Of each slot the committing
/// word is read first: when it is there, the others are.
uint32_t read_page(const std::byte* at, std::array<uint64_t, kWordsPerPage>& page) {
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
  // Slots are read first and written last: what they refer to is there before them. From the last run to the first, so
  // that what is copied is a beginning of what was recorded, and the mirror page first of all: it gives the file its
  // size.
  std::vector<ChangedPage> slots;
  std::vector<ChangedPage> others;
  const journal::LiveLayout& layout = segment.layout;
  for (uint32_t at = layout.mirror_definitions_offset; at > layout.runs_offset;) {
    add_if_changed(segment, at -= journal::kPageBytes, true, *copy, slots);
  }
  for (uint32_t at = layout.segment_bytes; at > 0;) {
    at -= journal::kPageBytes;
    if (at < layout.runs_offset || at >= layout.mirror_definitions_offset) {
      add_if_changed(segment, at, false, *copy, others);
    }
  }
  for (const std::vector<ChangedPage>* pages : {&others, &slots}) {
    for (const ChangedPage& page : *pages) {
      const int error = system_calls.write_at(copy->fd, std::as_bytes(std::span(page.words)), page.offset);
      if (error != 0) return error;
      copy->states[page.offset / journal::kPageBytes] = page.state;
    }
  }
  return 0;
}

void Staging::add_if_changed(const LiveSegment& segment, uint32_t offset, bool is_run, const Copy& copy,
                             std::vector<ChangedPage>& changed) {
  ChangedPage page{.offset = offset, .state = 0, .words = {}};
  const uint32_t slots = read_page(segment.base + offset, page.words);
  page.state = is_run ? slots : crc32c(std::as_bytes(std::span(page.words)));
  if (page.state != copy.states[offset / journal::kPageBytes]) changed.push_back(page);
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

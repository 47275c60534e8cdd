// SPDX-License-Identifier: Apache-2.0
#include "record/read_journals.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace goodput::record {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

/// What lies in a folder; nothing when it goes away meanwhile.
std::vector<fs::path> list(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code gone;
  for (fs::directory_iterator at(folder, gone); !gone && at != fs::directory_iterator(); at.increment(gone)) {
    paths.push_back(at->path());
  }
  return paths;
}

bool is_blank_file(const std::vector<std::byte>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

std::string text_of(const journal::Segment& segment, uint16_t id) { return std::string(segment.names[id]); }

void add_segment(WrittenJournal& written, const journal::Segment& segment) {
  written.header = segment.header;
  for (const journal::StoredEvent& stored : segment.events) {
    WrittenEvent event{.event = stored.event, .name = text_of(segment, stored.event.name), .text = {}};
    if (stored.event.kind == event::Kind::kDisruption) {
      event.text = text_of(segment, static_cast<uint16_t>(stored.event.value));
    }
    written.events.push_back(std::move(event));
  }
  for (size_t i = 0; i < segment.counters.counts.size(); ++i) {
    written.counters.counts[i] = std::max(written.counters.counts[i], segment.counters.counts[i]);
  }
  if (segment.clock.pairs >= written.clock.pairs) written.clock = segment.clock;
}

/// Names by probing: a listing misses files that are renamed meanwhile.
std::vector<std::byte> read_segment(const fs::path& folder, int number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 8 - digits.size(), '0');
  for (const char* form : {".sealed", ".live", ".sealed"}) {
    std::vector<std::byte> bytes = read_file(folder / (digits + form));
    if (!is_blank_file(bytes)) return bytes;
  }
  return {};
}

/// Numbers without a file that may lie between others.
constexpr int kMaxGap = 16;

WrittenJournal read_journal(const fs::path& folder) {
  WrittenJournal written;
  written.folder = folder;
  for (const fs::path& path : list(folder)) written.files.push_back(path.filename());
  std::sort(written.files.begin(), written.files.end());
  std::vector<journal::Segment> segments;
  int last = 0;
  for (int number = 1; number <= last + kMaxGap; ++number) {
    const std::vector<std::byte> bytes = read_segment(folder, number);
    if (bytes.empty()) continue;
    last = number;
    Result<journal::Segment> segment = journal::recover_segment(bytes);
    CHECK(segment.ok());
    segments.push_back(std::move(*segment));
  }
  std::vector<const journal::Segment*> all;
  for (const journal::Segment& segment : segments) {
    add_segment(written, segment);
    all.push_back(&segment);
  }
  written.losses = journal::joint_losses(all);
  std::stable_sort(written.events.begin(), written.events.end(),
                   [](const WrittenEvent& a, const WrittenEvent& b) { return a.event.boot_ns < b.event.boot_ns; });
  return written;
}

}  // namespace

std::vector<int64_t> WrittenJournal::steps() const {
  std::vector<int64_t> steps;
  for (const WrittenEvent& written : events) {
    if (written.event.kind == event::Kind::kStepStart) steps.push_back(written.event.value);
  }
  return steps;
}

size_t WrittenJournal::count(event::Kind kind) const {
  return static_cast<size_t>(
      std::count_if(events.begin(), events.end(), [kind](const WrittenEvent& e) { return e.event.kind == kind; }));
}

const WrittenEvent* WrittenJournal::first(event::Kind kind) const {
  const auto found =
      std::find_if(events.begin(), events.end(), [kind](const WrittenEvent& e) { return e.event.kind == kind; });
  return found == events.end() ? nullptr : &*found;
}

std::vector<WrittenJournal> read_journals(const std::string& root) {
  std::vector<WrittenJournal> journals;
  for (const fs::path& job : list(fs::path(root) / "v1")) {
    for (const fs::path& run : list(job)) {
      for (const fs::path& own : list(run)) {
        WrittenJournal journal = read_journal(own);
        if (!journal.header.job.empty()) journals.push_back(std::move(journal));
      }
    }
  }
  std::sort(journals.begin(), journals.end(), [](const WrittenJournal& a, const WrittenJournal& b) {
    return a.header.open_boot_ns < b.header.open_boot_ns;
  });
  return journals;
}

}  // namespace goodput::record

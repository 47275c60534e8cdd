// A journal on disk, written as a recorder writes it; for tests.
//
//   JournalFixture rank0(root, {.attempt_id = "77.0"});
//   rank0.append({.kind = Kind::kStepStart, .boot_ns = 7, .value = 3});
//   rank0.alive_at(9);                  // a clock pair
//   rank0.write();                      // what a reader can see from here on
//   rank0.seal(1);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "journal/folder_names.h"
#include "journal/sealer.h"
#include "journal/segment_fixture.h"

namespace goodput::journal {

class JournalFixture {
 public:
  struct Options {
    std::string job = "llama-7b";
    std::string run_id{};
    std::string attempt_id = "77.0";
    std::string role{};
    std::string host = "node-3";
    std::string boot_id = "another boot of another machine";
    int64_t process_index = 0;
    int64_t pid = 4242;
    int64_t open_boot_ns = 5'000'000'000;
    int64_t open_wall_ns = 1'767'225'600'000'000'000;
    uint8_t id = 1;  ///< every byte of the journal id
    uint32_t segment_bytes = kMinSegmentBytes;
  };

  JournalFixture(const std::string& root, Options options) : options_(std::move(options)) {
    JournalId id;
    id.fill(options_.id);
    const std::string path = root + "/" + kLayoutFolder + "/" + hash_name(options_.job) + "/" +
                             hash_name(options_.run_id) + "/" + id_name(id);
    CHECK(posix_file_system().make_directories(path).ok());
    path_ = path;
    begin_segment(1);
  }

  /// In the current segment, or, when that is full, in the next.
  void append(LiveEvent event) {
    if (!live_->append(event)) {
      rotate();
      CHECK(live_->append(event));
    }
    event.number = live_->last_number();
    all_.push_back(event);
  }
  void define(uint16_t id, std::string_view text) {
    names_.emplace_back(id, text);
    live_->define(id, text);
  }
  void alive_at(int64_t boot_ns) {
    live_->alive_at({boot_ns, options_.open_wall_ns + boot_ns - options_.open_boot_ns}, ++pairs_);
  }
  /// Makes the current segment's bytes those of its file.
  void write() { write_bytes(segment_name(number_, SegmentForm::kLive), live_->bytes()); }
  void rotate() {
    write();
    begin_segment(number_ + 1);
  }
  Status seal(uint32_t number) {
    auto folder = posix_file_system().open_directory(path_);
    return seal_file(*folder.value(), number);
  }

  [[nodiscard]] SegmentFixture& live() { return *live_; }
  [[nodiscard]] uint32_t number() const { return number_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// What was appended, in that order.
  [[nodiscard]] const std::vector<LiveEvent>& all() const { return all_; }
  /// Wall time by the journal's own clocks.
  [[nodiscard]] int64_t wall_ns(int64_t boot_ns) const {
    return options_.open_wall_ns + boot_ns - options_.open_boot_ns;
  }

 private:
  using JournalId = std::array<uint8_t, 16>;

  void begin_segment(uint32_t number) {
    LiveHeader header = SegmentFixture::header(number, options_.segment_bytes);
    header.journal_id.fill(options_.id);
    header.job = options_.job;
    header.run_id = options_.run_id;
    header.attempt_id = options_.attempt_id;
    header.role = options_.role;
    header.host = options_.host;
    header.boot_id = options_.boot_id;
    header.process_index = options_.process_index;
    header.pid = options_.pid;
    header.open_boot_ns = options_.open_boot_ns;
    header.open_wall_ns = options_.open_wall_ns;
    auto next = std::make_unique<SegmentFixture>(header);
    if (live_ != nullptr) next->continue_from(*live_);
    live_ = std::move(next);
    number_ = number;
    for (const auto& [id, text] : names_) live_->define(id, text);
  }
  void write_bytes(const std::string& name, const std::vector<std::byte>& bytes) const {
    std::ofstream file(path_ + "/" + name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    CHECK(file.good());
  }

  Options options_;
  std::string path_;
  std::unique_ptr<SegmentFixture> live_;
  uint32_t number_ = 0;
  int64_t pairs_ = 0;
  std::vector<std::pair<uint16_t, std::string>> names_;
  std::vector<LiveEvent> all_;
};

}  // namespace goodput::journal

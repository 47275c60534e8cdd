// SPDX-License-Identifier: Apache-2.0
#include "record/live_journal.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "journal/folder_names.h"
#include "journal/live_header.h"
#include "journal/sealer.h"

namespace goodput::record {
namespace {

constexpr const char* kWriterName = "goodput 0.1.0";
/// close() returns within two seconds, whatever the file system does.
constexpr int64_t kClosePatienceNs = 2'000'000'000;

/// The open journals of this process.
struct Registry {
  std::mutex mutex;
  std::vector<LiveJournal*> open;
  std::vector<LiveJournal*> stuck;  // given back while their threads were in the file system
  Registry* of_parent = nullptr;    // a forked child's memory still holds it
};

/// What a leak checker finds the registries by: it does not look into mapped pages.
std::atomic<Registry*> newest_registry{nullptr};

/// The registry is reached through a page that is wiped in forked children: a child does not find what its parent has
/// open, nor a mutex that a thread of the parent held when it forked.
Registry* registry() {
  static std::atomic<Registry*>* const cell = [] {
    void* page = mmap(nullptr, journal::kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return static_cast<std::atomic<Registry*>*>(nullptr);
    madvise(page, journal::kPageBytes, MADV_WIPEONFORK);
    return static_cast<std::atomic<Registry*>*>(page);
  }();
  if (cell == nullptr) return nullptr;
  Registry* found = cell->load(std::memory_order_acquire);
  if (found != nullptr) return found;
  auto* made = new Registry;
  if (!cell->compare_exchange_strong(found, made, std::memory_order_acq_rel)) {
    delete made;
    return found;
  }
  made->of_parent = newest_registry.exchange(made);
  return made;
}

/// For all writers of the process; never given back.
NameTable* name_table() {
  static NameTable* const table = NameTable::make();
  return table;
}

std::array<uint8_t, 16> random_id() {
  std::array<uint8_t, 16> id{};
  fill_random(id);
  return id;
}

bool is_same_place(const Identity& a, const Identity& b) {
  return a.job == b.job && a.run_id == b.run_id && a.role == b.role && a.process_index == b.process_index;
}

/// What cannot be sealed stays live, and whoever reads it may try again.
void seal_files(int folder_fd, const std::vector<uint32_t>& numbers) {
  const Result<std::unique_ptr<Directory>> folder = directory_of(folder_fd, "journal");
  if (!folder.ok()) return;
  for (const uint32_t number : numbers) {
    if (const Status sealed = journal::seal_file(**folder, number); !sealed.ok()) continue;
  }
}

bool is_quiet() {
  const auto quiet = journal::system_environment()("GOODPUT_QUIET");
  return quiet && *quiet != "0";
}

}  // namespace

LiveJournal::LiveJournal(Identity identity, const RecorderOptions& options)
    : identity_(std::move(identity)),
      journal_id_(random_id()),
      folder_(place()),
      staging_(place(), journal::system_environment()),
      housekeeping_(writer_, folder_, staging_,
                    {.sync_interval_seconds = options.sync_interval_seconds, .seal = seal_files}),
      keeper_(writer_, housekeeping_) {}

JournalFolder::Place LiveJournal::place() const {
  return {.roots = identity_.roots, .job = identity_.job, .run_id = identity_.run_id, .journal_id = journal_id_};
}

LiveJournal* LiveJournal::acquire(const RecorderOptions& options) {
  if (!options.enabled) return nullptr;
  Identity identity = resolve_identity(options, journal::system_environment());
  if (identity.job.empty()) {
    if (!is_quiet()) std::fprintf(stderr, "goodput: not recording: no job is named (job, GOODPUT_JOB)\n");
    return nullptr;
  }
  Registry* journals = registry();
  if (journals == nullptr || name_table() == nullptr) return nullptr;
  const std::lock_guard lock(journals->mutex);
  reap(journals->stuck);
  for (LiveJournal* journal : journals->open) {
    if (!is_same_place(journal->identity_, identity)) continue;
    ++journal->holders_;
    ++journal->open_holders_;
    return journal;
  }
  auto* journal = new LiveJournal(std::move(identity), options);
  if (!journal->open()) {
    delete journal;
    return nullptr;
  }
  journals->open.push_back(journal);
  return journal;
}

bool LiveJournal::open() {
  if (!writer_.open(*name_table())) {
    if (!is_quiet()) std::fprintf(stderr, "goodput: not recording: the system lacks memory, or MADV_WIPEONFORK\n");
    return false;
  }
  const ClockPair now = read_pair(system_clock());
  journal::LiveHeader header{.journal_id = journal_id_,
                             .open_boot_ns = now.boot_ns,
                             .open_wall_ns = now.wall_ns,
                             .pid = getpid(),
                             .process_index = identity_.process_index,
                             .accelerators = identity_.accelerators.value_or(-1),
                             .job = identity_.job,
                             .run_id = identity_.run_id,
                             .attempt_id = identity_.attempt_id,
                             .role = identity_.role,
                             .host = identity_.host,
                             .boot_id = read_boot_id(),
                             .accelerator_type = identity_.accelerator_type,
                             .writer = kWriterName,
                             .labels = identity_.labels};
  HeaderTemplate encoded{.journal_id = journal_id_};
  const size_t left_out = journal::encode_header(header, encoded.bytes);
  writer_.chain().set_header(encoded);
  const int error = keeper_.prepare();
  if (left_out > 0) {
    const Pin pin(writer_);
    writer_.count(journal::Counter::kLabelsLeftOut, left_out);
  }
  announce(error);
  keeper_.start();
  return true;
}

void LiveJournal::announce(int error) const {
  if (is_quiet()) return;
  const char* job = identity_.job.c_str();
  if (error != 0) {
    std::fprintf(stderr,
                 "goodput: cannot record job \"%s\" in %s: %s; training goes on, and so do attempts to record\n", job,
                 root().c_str(), std::strerror(error));
  } else if (identity_.process_index == 0 && identity_.role.empty()) {
    std::fprintf(stderr, "goodput: recording job \"%s\", attempt %s, in %s\n", job, identity_.attempt_id.c_str(),
                 root().c_str());
  }
}

void LiveJournal::close() {
  if (!writer_.is_ours()) return;  // a forked child: it is the parent's
  Registry* journals = registry();
  const std::lock_guard lock(journals->mutex);
  if (--open_holders_ > 0) return;
  std::erase(journals->open, this);
  keeper_.stop(kClosePatienceNs);
}

void LiveJournal::release(LiveJournal* journal) {
  if (!journal->writer_.is_ours()) return;
  Registry* journals = registry();
  const std::lock_guard lock(journals->mutex);
  if (--journal->holders_ > 0) return;
  journals->stuck.push_back(journal);
  reap(journals->stuck);
}

void LiveJournal::reap(std::vector<LiveJournal*>& stuck) {
  std::erase_if(stuck, [](LiveJournal* journal) {
    if (!journal->keeper_.stop(0)) return false;
    delete journal;
    return true;
  });
}

std::string LiveJournal::id() const { return journal::id_name(journal_id_); }

}  // namespace goodput::record

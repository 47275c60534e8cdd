// SPDX-License-Identifier: Apache-2.0
#include "monitor/trainer_watch.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "base/clock.h"
#include "journal/folder_names.h"

namespace goodput::monitor {
namespace {

using journal::JobLog;

/// When a process was started, by boot time; nothing when there is none of that number.
std::optional<int64_t> start_boot_ns(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // The second field is a name in parentheses that may hold anything; the start is the 20th after it.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field;
  int64_t ticks = 0;
  if (!fields || std::from_chars(field.data(), field.data() + field.size(), ticks).ec != std::errc()) {
    return std::nullopt;
  }
  return ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK));
}

bool is_trainer(const JobLog::Member& member) {
  const auto& header = member.file->facts().header;
  return member.part == journal::JournalPart::kIncluded && header.has_value() && journal::is_rank_zero(*header);
}

/// Whether some process holds the journal, as its recorder does while it lives. Numbers of processes are those of one
/// container: the one that was watched may have been a stranger's.
bool is_held(const JobLog::Member& member) {
  const auto folder = member.run_folder->open_directory(journal::id_name(member.file->id()));
  if (!folder.ok()) return false;
  const auto lock = (*folder)->open_file(journal::kLockFile, Access::kReadWrite);
  return lock.ok() && (*lock)->lock().code() == StatusCode::kUnavailable;
}

const JobLog::Member* latest_trainer(const JobLog& log) {
  const JobLog::Member* latest = nullptr;
  const auto opened_ns = [](const JobLog::Member& member) {
    return JobLog::wall_ns(member, member.file->facts().header->open_boot_ns);
  };
  for (const auto& member : log.members()) {
    if (is_trainer(*member) && (latest == nullptr || opened_ns(*member) > opened_ns(*latest))) latest = member.get();
  }
  return latest;
}

}  // namespace

TrainerWatch::~TrainerWatch() { close(); }

void TrainerWatch::close() {
  if (process_ >= 0) ::close(process_);
  process_ = -1;
}

bool TrainerWatch::is_recording(const JobLog& log) {
  const JobLog::Member* const latest = latest_trainer(log);
  return latest != nullptr && is_held(*latest);
}

void TrainerWatch::choose(const JobLog& log) {
  const JobLog::Member* const latest = latest_trainer(log);
  if (latest == nullptr) return;
  if (latest->file->id() == journal_id_ && process_ >= 0) {
    if (has_died() && is_held(*latest)) close();
    return;
  }
  const journal::LiveHeader& header = *latest->file->facts().header;
  close();
  if (latest->file->facts().is_dead || header.boot_id.empty() || header.boot_id != read_boot_id()) return;
  const int process = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(header.pid), 0));
  if (process < 0) return;
  // A process that began after the journal was opened has only the number in common with the one that opened it.
  constexpr int64_t kTicksAreCoarseNs = 100'000'000;
  const std::optional<int64_t> start_ns = start_boot_ns(header.pid);
  if (!start_ns.has_value() || *start_ns > header.open_boot_ns + kTicksAreCoarseNs) {
    ::close(process);
    return;
  }
  process_ = process;
  journal_id_ = latest->file->id();
  attempt_id_ = header.attempt_id;
  ++count_;
}

bool TrainerWatch::has_died() const {
  pollfd wanted = {.fd = process_, .events = POLLIN, .revents = 0};
  return process_ >= 0 && ::poll(&wanted, 1, 0) == 1;
}

}  // namespace goodput::monitor

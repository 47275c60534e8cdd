// SPDX-License-Identifier: Apache-2.0
#include "monitor/journal_findings.h"

#include <fmt/format.h>

#include <string_view>

namespace goodput::monitor {
namespace {

using report::Severity;
namespace kind = journal::finding;

struct Words {
  std::string_view kind;
  Severity severity;
  std::string_view one, many;  ///< what was seen; {} is the number
  std::string_view fix;
};

constexpr Words kWords[] = {
    {kind::kEventsLost, Severity::kError, "1 event was damaged on disk and is lost",
     "{} events were damaged on disk and are lost",
     "Look for disk errors on the machine that holds the journals; `goodput recover FILE` tells what is left of a "
     "file."},
    {kind::kNamesLost, Severity::kWarning, "1 name was damaged on disk; its events are kept",
     "{} names were damaged on disk; their events are kept",
     "Look for disk errors on the machine that holds the journals."},
    {kind::kEventsDropped, Severity::kError, "1 event could not be recorded", "{} events could not be recorded",
     "Make room, or let the recorder write somewhere else (GOODPUT_DIR); bad values come from the training loop."},
    {kind::kWallClockStep, Severity::kInfo, "The wall clock of a host was set once while the job ran",
     "The wall clocks of hosts were set {} times while the job ran",
     "Nothing was moved by it; let the hosts' clocks be slewed, not stepped."},
    {kind::kOrphanRank, Severity::kWarning,
     "The journal of 1 rank belongs to no attempt that is known, and was left out",
     "The journals of {} ranks belong to no attempt that is known, and were left out",
     "Give all processes of a launch the same GOODPUT_ATTEMPT_ID, or let `goodput run` launch them."},
    {kind::kTwoWriters, Severity::kWarning, "A second process recorded as rank 0, and was left out",
     "{} more processes recorded as rank 0, and were left out",
     "Give each process its index (RANK or GOODPUT_PROCESS_INDEX)."},
    {kind::kSlowStepNumber, Severity::kWarning, "1 step number took more than 1 ms to read",
     "{} step numbers took more than 1 ms to read",
     "Give the recorder a plain integer: reading a number from the device waits for the device."},
    {kind::kNewerVersion, Severity::kError, "1 journal was written by a newer version of goodput, and was left out",
     "{} journals were written by a newer version of goodput, and were left out", "Install that version here."},
    {kind::kNewerKinds, Severity::kWarning, "1 event is of a kind that this version of goodput does not know",
     "{} events are of kinds that this version of goodput does not know", "Install the version that recorded them."},
    {kind::kTextsCut, Severity::kInfo, "1 name or text was longer than 2,000 bytes, and was cut",
     "{} names or texts were longer than 2,000 bytes, and were cut", "Use shorter names."},
    {kind::kTooManyNames, Severity::kWarning, "1 event came with a name too many, and lost it",
     "{} events came with names too many, and lost them",
     "Names are for kinds of events: leave numbers and paths out of them."},
    {kind::kLabelsLeftOut, Severity::kInfo, "1 label was left out: there were too many, or they were too long",
     "{} labels were left out: there were too many, or they were too long", "Use fewer or shorter labels."},
    {kind::kMalformedEntry, Severity::kWarning, "1 entry of an imported log was no event, and was left out",
     "{} entries of an imported log were no events, and were left out",
     "`goodput report --input FILE` on that log tells which; whoever writes it has a fault."},
    {kind::kRepairedEntry, Severity::kInfo, "1 entry of an imported log was used after a repair",
     "{} entries of an imported log were used after a repair",
     "`goodput report --input FILE` on that log tells which; whoever writes it has a fault."},
    {kind::kHistoryDropped, Severity::kWarning,
     "Events before this time were dropped from disk, and the account of them cannot be used here: "
     "they are not in this report",
     "", "Ask with the usual options; raise GOODPUT_DISK_BUDGET to keep more."},
    {kind::kSyncFailed, Severity::kWarning, "The disk refused to sync a journal once",
     "The disk refused to sync a journal {} times",
     "What is recorded survives the process, but perhaps not the machine: look at that disk."},
};

}  // namespace

report::Finding in_words(const journal::Finding& found) {
  report::Finding out;
  out.kind = found.kind;
  out.count = static_cast<int64_t>(found.count);
  if (found.seconds != 0) out.seconds = found.seconds;
  if (found.first_ns != 0) out.first_ns = found.first_ns;
  for (const Words& words : kWords) {
    if (words.kind != found.kind) continue;
    out.severity = words.severity;
    out.message = found.count == 1 ? std::string(words.one) : fmt::format(fmt::runtime(words.many), found.count);
    out.fix = words.fix;
  }
  if (out.message.empty()) out.message = fmt::format("{} ({})", found.kind, found.count);
  if (!found.detail.empty()) out.message += ": " + found.detail;
  out.message += ".";
  return out;
}

}  // namespace goodput::monitor

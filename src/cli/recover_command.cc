// `goodput recover`: what is intact in files that were damaged, and what is lost.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/move_options.h"
#include "cli/recovered_files.h"
#include "cli/terminal_style.h"
#include "report/terminal/human.h"
#include "report/terminal/text.h"

namespace goodput::cli {
namespace {

using journal::Loss;
using journal::LossReason;
using nlohmann::ordered_json;

std::string_view word_of(LossReason reason) {
  switch (reason) {
    case LossReason::kDamagedSlot:
      return "damaged_slot";
    case LossReason::kDamagedBlock:
      return "damaged_block";
    case LossReason::kCutShort:
      return "cut_short";
    case LossReason::kMissingNumber:
      return "missing_number";
    case LossReason::kDamagedName:
      return "damaged_name";
    case LossReason::kDamagedHeader:
      return "damaged_header";
    case LossReason::kUnknownKind:
      return "unknown_kind";
  }
  return "unknown";
}

std::string counted(uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", report::human_count(static_cast<int64_t>(count)), thing, count == 1 ? "" : "s");
}

/// "up to 12 events: damaged slot of a live segment".
std::string loss_line(const Loss& loss) {
  std::string what;
  if (loss.events > 0) what = (loss.at_most ? "up to " : "") + counted(loss.events, "event");
  if (loss.names > 0) what += (what.empty() ? "" : " and ") + counted(loss.names, "name");
  if (what.empty())
    what = counted(loss.bytes, "byte") + (loss.reason == LossReason::kDamagedHeader ? "" : " of no event");
  return fmt::format("{}: {}", what, describe(loss.reason));
}

ordered_json losses_json(const std::vector<Loss>& losses) {
  ordered_json list = ordered_json::array();
  for (const Loss& loss : losses) {
    list.push_back({{"reason", word_of(loss.reason)},
                    {"at_most", loss.at_most},
                    {"events", loss.events},
                    {"names", loss.names},
                    {"bytes", loss.bytes}});
  }
  return list;
}

ordered_json journal_json(const RecoveredJournal& journal) {
  ordered_json files = ordered_json::array();
  for (const RecoveredFile& file : journal.files) {
    files.push_back({{"file", file.path},
                     {"segment", file.segment.header.segment_number},
                     {"form", file.form == journal::SegmentForm::kSealed ? "sealed" : "live"},
                     {"events", file.segment.events.size()},
                     {"losses", losses_json(file.segment.losses)}});
  }
  return {{"journal_id", journal::id_name(journal.header.journal_id)},
          {"job", journal.header.job},
          {"run_id", journal.header.run_id},
          {"attempt_id", journal.header.attempt_id},
          {"role", journal.header.role},
          {"process_index", journal.header.process_index},
          {"host", journal.header.host},
          {"events", journal.events},
          {"never_recorded", journal.never_recorded},
          {"losses", losses_json(journal.losses)},
          {"files", files}};
}

/// Whose journal it is, as a title.
std::string title_of(const RecoveredJournal& journal, bool unicode) {
  const journal::LiveHeader& header = journal.header;
  if (header.job.empty()) return fmt::format("journal {}: its header is lost", journal::id_name(header.journal_id));
  std::string title = header.job + (header.run_id.empty() ? "" : "@" + header.run_id);
  if (!header.attempt_id.empty()) title += ", attempt " + header.attempt_id;
  title += header.role.empty() ? fmt::format(", rank {}", header.process_index) : ", " + header.role;
  if (!header.host.empty()) title += " on " + header.host;
  return report::printable(title, unicode);
}

std::string page_of(const RecoveredJournal& journal, bool unicode) {
  std::string page = "  " + title_of(journal, unicode) + "\n";
  for (const RecoveredFile& file : journal.files) {
    page += fmt::format("    {}  {} intact\n", report::printable(file.path, unicode),
                        counted(file.segment.events.size(), "event"));
  }
  page += journal.losses.empty() ? "    nothing is lost\n" : "    lost:\n";
  for (const Loss& loss : journal.losses) page += "      " + loss_line(loss) + "\n";
  if (journal.never_recorded > 0) {
    page += fmt::format("    {} could not be recorded at the time\n", counted(journal.never_recorded, "event"));
  }
  return page;
}

int tell(Context& context, const std::vector<RecoveredJournal>& journals) {
  bool all_intact = true;
  std::string page;
  ordered_json list = ordered_json::array();
  for (const RecoveredJournal& journal : journals) {
    all_intact = all_intact && journal.losses.empty();
    page += page_of(journal, locale_is_utf8());
    list.push_back(journal_json(journal));
  }
  const ordered_json answer = {{"schema", "goodput.recover/1"}, {"journals", list}};
  const int indent = context.json_form() == report::JsonForm::kIndented ? 2 : -1;
  const std::string text =
      context.globals.json ? answer.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n" : page;
  const int printed = context.print(text);
  if (printed != kDone) return printed;
  return all_intact ? kDone : kAnswerIsNo;
}

int run_recover(Context& context, const RecoverOptions& options) {
  RecoveredFiles recovered;
  bool all_read = true;
  for (const std::string& file : options.files) {
    const Status added = recovered.add(file);
    if (added.ok()) continue;
    context.fail("recover", added);
    all_read = false;
  }
  const std::vector<RecoveredJournal> journals = recovered.journals();
  if (journals.empty()) return kCannot;
  if (!options.output.empty()) {
    const Status written = recovered.write(options.output);
    if (!written.ok()) {
      context.fail("recover", written);
      return kCannot;
    }
  }
  const int told = tell(context, journals);
  return all_read ? told : kCannot;
}

}  // namespace

Command recover_command() {
  return {.name = "recover",
          .group = kKeep,
          .summary = "what is intact in damaged journal files, and what is lost",
          .examples =
              "goodput recover 00000003.live\n"
              "goodput recover ~/.local/state/goodput/v1/*/*/* --json\n"
              "goodput recover damaged/ --output saved && goodput report llama-7b --dir saved",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<RecoverOptions>();
            add_recover_options(app, *options);
            return [options](Context& context) { return run_recover(context, *options); };
          }};
}

}  // namespace goodput::cli

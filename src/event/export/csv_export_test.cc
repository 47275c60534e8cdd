// SPDX-License-Identifier: Apache-2.0
#include "event/export/csv_export.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/decimal.h"
#include "base/time_text.h"
#include "event/payload.h"
#include "event/random_event_for_test.h"

namespace goodput::event {
namespace {

/// The rows of a CSV text, by RFC 4180.
std::vector<std::vector<std::string>> rows_of(std::string_view text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& cell = rows.back().back();
    if (quoted) {
      const bool doubled = c == '"' && i + 1 < text.size() && text[i + 1] == '"';
      if (doubled) ++i;
      if (c != '"' || doubled) {
        cell += c;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\n') {
      rows.emplace_back(1);
    } else {
      cell += c;
    }
  }
  rows.pop_back();
  return rows;
}

/// A row as the event that it tells of.
class RowReader {
 public:
  RowReader(const std::vector<std::string>& header, const std::vector<std::string>& row) {
    EXPECT_EQ(header.size(), row.size());
    for (size_t i = 0; i < header.size(); ++i) cells_[header[i]] = row[i];
  }

  const Event& read() {
    for (size_t kind = 0; kind < kKinds; ++kind) {
      if (cell("kind") == kKindNames[kind]) event_.kind = static_cast<Kind>(kind);
    }
    event_.time_ns = nanoseconds("time_seconds");
    event_.duration_ns = nanoseconds("duration_seconds");
    event_.step = integer("step");
    event_.name = cell("name");
    if (cell("time").empty()) event_.flags |= kUntimed;
    if (cell("blocking") == "true") event_.flags |= kBlocking;
    if (cell("failed") == "true") event_.flags |= kFailed;
    if (cell("emergency") == "true") event_.flags |= kEmergency;
    if (!cell("exit_code").empty()) event_.flags |= kCode;
    if (!cell("exit_signal").empty()) event_.flags |= kSignal;
    event_.exit_value = static_cast<int32_t>(integer("exit_code") + integer("exit_signal"));
    const bool is_step = event_.kind == Kind::kStepStart || event_.kind == Kind::kStepEnd;
    if (!cell("step").empty() && !is_step) event_.flags |= kHasStep;
    detail_ = {.location = cell("directory"),
               .cause = cell("cause"),
               .text = cell("detail"),
               .active_slices = integer("active_slices"),
               .total_slices = integer("total_slices"),
               .available_slices = integer("available_slices"),
               .tokens = number("tokens"),
               .samples = number("samples"),
               .flops = number("flops")};
    event_.detail = &detail_;
    EXPECT_TRUE(parse_position(cell("sequence"), event_.position));
    if (cell("process_index").empty()) return event_;
    origin_ = {.attempt_id = cell("attempt_id"),
               .run_id = cell("run_id"),
               .role = cell("role"),
               .host = cell("host"),
               .process_index = integer("process_index"),
               .pid = integer("pid")};
    event_.origin = &origin_;
    return event_;
  }

  const std::string& cell(const std::string& column) {
    EXPECT_TRUE(cells_.contains(column)) << column;
    return cells_[column];
  }

 private:
  int64_t nanoseconds(const std::string& column) {
    if (cell(column).empty()) return 0;
    return to_nanoseconds(*parse_json_number(cell(column)), kMaxTimeNs).value();
  }
  int64_t integer(const std::string& column) { return std::strtoll(cell(column).c_str(), nullptr, 10); }
  double number(const std::string& column) {
    return cell(column).empty() ? NAN : std::strtod(cell(column).c_str(), nullptr);
  }

  std::map<std::string, std::string> cells_;
  Event event_;
  Detail detail_;
  Origin origin_;
};

std::string exported(std::span<const Event> events) {
  CsvExport csv;
  std::string text;
  csv.begin(text);
  csv.append(events, text);
  csv.finish(text);
  return text;
}

TEST(CsvExportTest, RowsHoldAllThatThereIs) {
  RandomEvents random(3, /*with_surrogates=*/false);
  std::vector<Event> events;
  for (int i = 0; i < 5'000; ++i) events.push_back(random.make());
  const auto rows = rows_of(exported(events));
  ASSERT_EQ(rows.size(), events.size() + 1);
  for (size_t i = 0; i < events.size(); ++i) {
    RowReader row(rows[0], rows[i + 1]);
    ASSERT_EQ(described(row.read()), described(events[i]));
    const std::string time = row.cell("time");
    if (!time.empty()) {
      ASSERT_EQ(parse_rfc3339(time), events[i].time_ns) << time;
    }
  }
}

TEST(CsvExportTest, CellsAreEmptyWhereThereIsNothing) {
  const Event heartbeat{.time_ns = 1'767'225'600'250'000'000, .kind = Kind::kHeartbeat};
  EXPECT_EQ(rows_of(exported({&heartbeat, 1}))[1], (std::vector<std::string>{"2026-01-01T00:00:00.250000000Z",
                                                                             "1767225600.25",
                                                                             "heartbeat",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "",
                                                                             "0-0"}));
}

TEST(CsvExportTest, TextThatIsNotUtf8IsReplaced) {
  const Event event{.name = "a\xED\xA0\x80\xff", .kind = Kind::kCustomStart};
  const std::string text = exported({&event, 1});
  EXPECT_NE(text.find(",a\xEF\xBF\xBD"), std::string::npos) << text;
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace goodput::event

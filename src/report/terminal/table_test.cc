// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/table.h"

#include <gtest/gtest.h>

namespace goodput::report {
namespace {

std::string drawn(const Table& table, int columns) {
  Page page({.unicode = true, .colors = ColorDepth::kNone});
  page.style.columns = columns;  // also fewer than a page has
  table.draw(page);
  std::string out;
  for (const Line& line : page.lines) out += line.render(page.style) + "\n";
  return out;
}

Table jobs_table() {
  Table table(
      {{.title = "job", .flexible = true}, {.title = "n", .align = Align::kRight}, {.title = "note", .keep = 1}});
  table.add_row({{.text = "a-job-with-quite-a-long-name"}, {.text = "1"}, {.text = "first"}});
  table.add_row({{.text = "b"}, {.text = "1,000"}, {}});
  return table;
}

TEST(Table, ColumnsAreAsWideAsWhatTheyHold) {
  EXPECT_EQ(drawn(jobs_table(), 80),
            "job                               n  note\n"
            "a-job-with-quite-a-long-name      1  first\n"
            "b                             1,000\n");
}

TEST(Table, LongNamesAreShortenedBeforeColumnsAreLeftOut) {
  EXPECT_EQ(drawn(jobs_table(), 34),
            "job                     n  note\n"
            "a-job-with-q…-name      1  first\n"
            "b                   1,000\n");
}

TEST(Table, TheLeastImportantColumnIsLeftOut) {
  EXPECT_EQ(drawn(jobs_table(), 26),
            "job                   n\n"
            "a-job-with…-name      1\n"
            "b                 1,000\n");
}

TEST(Table, EmptyColumnsAreLeftOut) {
  Table table({{.title = "a"}, {.title = "b"}, {.title = "c"}});
  table.add_row({{.text = "1"}, {}, {.text = "3"}});
  EXPECT_EQ(drawn(table, 80), "a  c\n1  3\n");
}

}  // namespace
}  // namespace goodput::report

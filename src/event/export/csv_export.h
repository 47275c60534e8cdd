// Events as CSV (RFC 4180, lines end in a line feed): a header, then a row an event.
//
// For spreadsheets and data frames. The columns are described in docs/formats/event.md; they hold all that a payload
// holds.
//
//   CsvExport csv;
//   csv.begin(out);
//   csv.append(events, out);        // again and again, in the order of the log
//   csv.finish(out);
//
// One thread, no failure; bytes that are not UTF-8 become U+FFFD. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "event/event.h"

namespace goodput::event {

class CsvExport {
 public:
  void begin(std::string& out);
  void append(std::span<const Event> events, std::string& out);
  void finish(std::string& /*out*/) {}

 private:
  std::string scratch_;
};

}  // namespace goodput::event

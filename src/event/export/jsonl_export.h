// Events as JSON Lines: a payload a line, as docs/formats/event.md describes them.
//
// What goodput reads back whole. Exports share three verbs, so that a caller can choose among them:
//
//   JsonlExport lines("llama-7b");
//   lines.begin(out);
//   lines.append(events, out);      // again and again, in the order of the log; the caller empties `out` when it likes
//   lines.finish(out);
//
// One thread, no failure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "event/payload_writer.h"

namespace goodput::event {

class JsonlExport {
 public:
  explicit JsonlExport(std::string_view job, PayloadOptions options = {}) : writer_(job, options) {}

  void begin(std::string& /*out*/) {}
  void append(std::span<const Event> events, std::string& out) {
    for (const Event& event : events) {
      writer_.append(out, event);
      out += '\n';
    }
  }
  void finish(std::string& /*out*/) {}

 private:
  PayloadWriter writer_;
};

}  // namespace goodput::event

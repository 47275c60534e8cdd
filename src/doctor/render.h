// An examination for people and for programs.
//
//   std::fputs(render_lines(lines, job, style).c_str(), stdout);
//   std::fputs(lines_to_json(lines, job, form).c_str(), stdout);
//
// `job` as it was asked for; empty: none was. Colour is never the only sign: each line says its verdict in a word, and
// shows it by a symbol. Pure; nothing throws. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "doctor/checks.h"
#include "report/json.h"
#include "report/terminal.h"

namespace goodput::doctor {

std::string render_lines(std::span<const Line> lines, std::string_view job, const report::TerminalStyle& style);

/// {"schema": "goodput.doctor/1", "job": …, "verdict": "red", "checks": [{"check", "verdict", "seen", "fix"}]}
std::string lines_to_json(std::span<const Line> lines, std::string_view job, report::JsonForm form);

}  // namespace goodput::doctor

// SPDX-License-Identifier: Apache-2.0
#include "cli/run/program.h"

#include <gtest/gtest.h>

#include "cli/run/exit.h"
#include "cli/run/launch_fixture.h"

namespace goodput::cli {
namespace {

class ProgramTest : public LaunchTest {};

TEST_F(ProgramTest, ProgramIsFoundAsAShellFindsIt) {
  write("tool", "#!/bin/sh\n", 0755);
  write("text", "words", 0644);
  const std::string search = "/nowhere:" + path("");
  EXPECT_EQ(find_program("tool", search).path, path("") + "/tool");
  EXPECT_EQ(find_program(path("tool"), "").path, path("tool"));
  struct Case {
    std::string name;
    int shell_code;
    std::string problem;
  };
  for (const Case& c : {Case{"missing", kNotFoundCode, "starting missing: command not found"},
                        Case{"", kNotFoundCode, "starting '': command not found"},
                        Case{path("missing"), kNotFoundCode, "starting " + path("missing") + ": command not found"},
                        Case{path("text"), kNotExecutableCode, "starting " + path("text") + ": not an executable file"},
                        Case{"/tmp", kNotExecutableCode, "starting /tmp: not an executable file"},
                        Case{"text", kNotExecutableCode, "starting " + path("") + "/text: not an executable file"}}) {
    const Program program = find_program(c.name, search);
    EXPECT_EQ(program.shell_code, c.shell_code) << c.name;
    EXPECT_EQ(program.problem, c.problem);
  }
}

TEST_F(ProgramTest, VariablesReplaceThoseInherited) {
  const char* inherited[] = {"PATH=/bin", "GOODPUT_JOB=old", "GOODPUT_JOBS=kept", "GOODPUT_RUN_ID=old", nullptr};
  EXPECT_EQ(with_variables(inherited, {{"GOODPUT_JOB", "a=b c"}, {"GOODPUT_RUN_ID", ""}, {"GOODPUT_DIR", "/x"}}),
            (Lines{"PATH=/bin", "GOODPUT_JOBS=kept", "GOODPUT_JOB=a=b c", "GOODPUT_DIR=/x"}));
}

}  // namespace
}  // namespace goodput::cli

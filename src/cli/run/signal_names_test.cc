// SPDX-License-Identifier: Apache-2.0
#include "cli/run/signal_names.h"

#include <gtest/gtest.h>

#include <csignal>

namespace goodput::cli {
namespace {

TEST(SignalNames, AreReadInEveryUsualForm) {
  struct Case {
    const char* text;
    int signal;
  };
  for (const Case& c : {Case{"USR1", SIGUSR1}, Case{"SIGUSR1", SIGUSR1}, Case{"sigterm", SIGTERM}, Case{"10", 10},
                        Case{"RTMIN", SIGRTMIN}, Case{"SIGRTMIN+3", SIGRTMIN + 3}, Case{"RTMAX-1", SIGRTMAX - 1}}) {
    const Result<int> signal = parse_signal(c.text);
    ASSERT_TRUE(signal.ok()) << c.text;
    EXPECT_EQ(*signal, c.signal) << c.text;
  }
}

TEST(SignalNames, WhatCannotBeReceivedIsRefused) {
  for (const char* text : {"", "SIG", "0", "65", "-1", "USR3", "RTMIN+99", "RTMIN-1", "10x", "KILL", "SIGSTOP", "9"}) {
    EXPECT_FALSE(parse_signal(text).ok()) << text;
  }
  EXPECT_EQ(parse_signal("KILL").status().message(), "waiting for SIGKILL: no process can receive it");
}

TEST(SignalNames, EverySignalHasANameThatIsReadBack) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP || (signal > 31 && signal < SIGRTMIN)) continue;
    const Result<int> again = parse_signal(signal_name(signal));
    ASSERT_TRUE(again.ok()) << signal_name(signal);
    EXPECT_EQ(*again, signal);
  }
}

}  // namespace
}  // namespace goodput::cli

// What `goodput monitor` does alike whether a person or a training process started it.
//
//   monitor::Monitor watched(*job, std::move(pipes), monitor_options(context, plan, options, *job), system_clock());
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/function_ref.h"
#include "cli/context.h"
#include "cli/monitor_options.h"
#include "cli/run/signal_queue.h"
#include "monitor/monitor.h"

namespace goodput::cli {

constexpr int64_t kLookForNewsNs = 200'000'000;  // how soon a death shows

/// The journal of a death is no recording that anybody wants to be told of. Before any thread is started.
void keep_quiet();

/// What the process that started this one has open and did not mean to hand on: devices, sockets, files of its
/// libraries. Input, output and `kept_fd` stay; a negative one is none.
void close_all_but(int kept_fd);

/// As the plan says; the death of a trainer becomes an event of the job. What is given here outlives the monitor.
monitor::MonitorOptions monitor_options(const Context& context, const MonitorPlan& plan, const MonitorOptions& options,
                                        monitor::FollowedJob& job);

/// Of each exporter what its last attempt failed with, on standard error.
void tell_failures(Context& context, std::string_view command, const monitor::Monitor& monitor);

/// Whether somebody wants this process to end.
bool is_end(const std::optional<Signal>& signal);

/// Waits until the next look is due, or there is news: asked often. False when this process is to end.
bool wait_for_look(SignalQueue& signals, int64_t interval_ns, FunctionRef<bool()> has_news);

}  // namespace goodput::cli

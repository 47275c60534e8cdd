// One monitor for each sink of a job: two that send the same series would count everything twice.
//
//   ASSIGN_OR_RETURN(const std::unique_ptr<File> lock, lock_sink(job.log(), "remote-write http://…", owner));
//
// A sink that is a folder or a port guards itself. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "journal/job_log.h"

namespace goodput::monitor {

/// `sink` may hold an address with credentials, which no message shows. Held until it is destroyed, or this process
/// ends. kAlreadyExists, naming the owner: another process has it. Null where nothing can be kept in the job's folder:
/// nobody else can hold it there either.
Result<std::unique_ptr<File>> lock_sink(journal::JobLog& log, std::string_view sink, std::string_view owner);

}  // namespace goodput::monitor

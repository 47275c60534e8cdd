// SPDX-License-Identifier: Apache-2.0
#include "cli/journal_source.h"

#include "base/environment.h"
#include "cli/follow_job.h"
#include "gcp/bucket_address.h"
#include "monitor/stored_job.h"

namespace goodput::cli {
namespace {

constexpr std::string_view kFileScheme = "file://";

/// NAME, or the NAME of NAME@RUN, as find_run() tells them apart.
Status refresh(store::JournalMirror& mirror, std::string_view name) {
  Status found = mirror.refresh(name);
  const size_t at = name.rfind('@');
  if (found.code() != StatusCode::kNotFound || at == std::string_view::npos || at == 0) return found;
  const Status job = mirror.refresh(name.substr(0, at));
  return job.code() == StatusCode::kNotFound ? found : job;
}

}  // namespace

bool is_journal_store(std::string_view store) {
  return store.starts_with(gcp::kBucketScheme) || store.starts_with(kFileScheme);
}

Result<JournalSource> JournalSource::open(const Context& context, std::string_view name) {
  return open(context, context.globals.store, name);
}

Result<JournalSource> JournalSource::open(const Context& context, const std::string& store, std::string_view name) {
  JournalSource source;
  if (store.starts_with(kFileScheme)) {
    source.roots_ = {{.path = store.substr(kFileScheme.size())}};
  } else if (is_journal_store(store)) {
    ASSIGN_OR_RETURN(const gcp::BucketAddress address, gcp::parse_bucket_address(store));
    ASSIGN_OR_RETURN(const std::string folder, store::mirror_folder(system_environment(), address));
    source.mirror_ = std::make_shared<store::JournalMirror>(store::MirrorOptions{.address = address, .folder = folder});
    RETURN_IF_ERROR(refresh(*source.mirror_, name));
    source.roots_ = {{.path = folder}};
  } else if (is_named_store(store)) {
    if (name.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    "looking for jobs in " + store + ": a log is asked for one by its name");
    }
    ASSIGN_OR_RETURN(
        monitor::Fetched fetched,
        monitor::fetch_stored(posix_file_system(), roots_of(context),
                              {.url = store, .name = std::string(name), .is_patient = true}, system_clock()));
    source.roots_ = {std::move(fetched.root)};
  } else {
    source.roots_ = roots_of(context);
  }
  return source;
}

Result<std::unique_ptr<monitor::FollowedJob>> JournalSource::follow(const monitor::RunName& run,
                                                                    const ledger::Options& options) const {
  ASSIGN_OR_RETURN(std::unique_ptr<monitor::FollowedJob> job, follow_under(roots_, run, options));
  if (mirror_ != nullptr) {
    job->feed(
        {.update = [mirror = mirror_, name = run.job] { return mirror->refresh(name); }, .is_others_alone = true});
  }
  return job;
}

}  // namespace goodput::cli

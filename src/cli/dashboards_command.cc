// `goodput dashboards`: the dashboards and alert rules that come with this program.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "cli/choice.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "dashboards/dashboards.h"
#include "dashboards/install.h"
#include "gcp/endpoints.h"
#include "gcp/environment.h"

namespace goodput::cli {
namespace {

struct DashboardsOptions {
  std::string action;
  bool grafana = false, cloud_monitoring = false, jobset = false, rules = false;
  std::string output, project;
  bool is_rehearsal = false;
};

/// The one that is asked for; kInvalidArgument for none or several.
Result<const dashboards::Dashboard*> chosen(const DashboardsOptions& options) {
  const std::pair<bool, const char*> flags[] = {{options.grafana, "grafana"},
                                                {options.cloud_monitoring, "cloud-monitoring"},
                                                {options.jobset, "jobset"},
                                                {options.rules, "rules"}};
  const dashboards::Dashboard* found = nullptr;
  for (const auto& [is_set, name] : flags) {
    if (!is_set) continue;
    if (found != nullptr) {
      return Status(StatusCode::kInvalidArgument, "exporting several dashboards: one at a time goes to one file");
    }
    found = dashboards::find_dashboard(name);
  }
  if (found != nullptr) return found;
  return Status(StatusCode::kInvalidArgument,
                "exporting: name one of --grafana, --cloud-monitoring, --jobset and --rules");
}

Status check(const DashboardsOptions& options) {
  const bool is_about_one = options.grafana || options.cloud_monitoring || options.jobset || options.rules;
  if (options.action == "install" && (is_about_one || !options.output.empty())) {
    return {StatusCode::kInvalidArgument,
            "installing: all dashboards of Cloud Monitoring are; the other options export"};
  }
  if (options.action == "export" && (!options.project.empty() || options.is_rehearsal)) {
    return {StatusCode::kInvalidArgument, "exporting: --project and --dry-run go with install"};
  }
  return {};
}

int run_export(Context& context, const DashboardsOptions& options) {
  const Result<const dashboards::Dashboard*> dashboard = chosen(options);
  if (!dashboard.ok()) return context.fail("dashboards", dashboard.status());
  Result<OutputFile> output = OutputFile::open(options.output, context.out);
  if (!output.ok()) {
    context.fail("dashboards", output.status());
    return kCannot;
  }
  output->write((*dashboard)->text);
  const Status written = output->finish();
  if (written.code() == StatusCode::kUnavailable) return kCannot;
  return written.ok() ? kDone : context.fail("dashboards", written);
}

std::string words_for(const dashboards::Installed& installed, bool is_rehearsal) {
  const char* done = installed.was_there ? "replaced" : "made";
  return is_rehearsal ? fmt::format("The dashboard \"{}\" would be {}.\n", installed.title, done)
                      : fmt::format("The dashboard \"{}\" was {}: {}\n", installed.title, done, installed.resource);
}

int run_install(Context& context, const DashboardsOptions& options) {
  const Environment environment = system_environment();
  const gcp::Endpoint endpoint = gcp::monitoring_endpoint(environment);
  const auto credentials = gcp::credentials_for(endpoint, {.environment = environment});
  if (!credentials.ok()) return context.fail("dashboards", credentials.status());
  const std::string project =
      options.project.empty() ? gcp::read_cloud_environment(environment, {.project = (*credentials)->project()}).project
                              : options.project;
  if (project.empty()) {
    return context.fail("dashboards",
                        Status(StatusCode::kInvalidArgument, "installing: name the project with --project"));
  }
  gcp::RestClient client(*credentials, {});
  const auto rehearsal = options.is_rehearsal ? dashboards::Rehearsal::kYes : dashboards::Rehearsal::kNo;
  const auto installed = dashboards::install(client, endpoint.url, project, rehearsal);
  if (!installed.ok()) {
    context.fail("dashboards", installed.status());
    return kCannot;
  }
  std::string words;
  for (const dashboards::Installed& each : *installed) words += words_for(each, options.is_rehearsal);
  return context.print(words);
}

}  // namespace

Command dashboards_command() {
  return {.name = "dashboards",
          .group = kWatch,
          .summary = "dashboards and alert rules for Grafana, Prometheus and Google Cloud",
          .examples =
              "goodput dashboards export --grafana -o goodput.json\n"
              "goodput dashboards export --rules -o /etc/prometheus/goodput_rules.yaml\n"
              "goodput dashboards install --project my-project --dry-run",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<DashboardsOptions>();
            add_choice(app, "action", options->action,
                       "export: write one as text; install: put those for Cloud Monitoring into a project",
                       "export|install");
            app.get_option("action")->required();
            app.add_flag("--grafana", options->grafana, "the dashboard for Grafana, over Prometheus");
            app.add_flag("--cloud-monitoring", options->cloud_monitoring, "the dashboard for Cloud Monitoring");
            app.add_flag("--jobset", options->jobset, "that of JobSets on GKE, for Cloud Monitoring");
            app.add_flag("--rules", options->rules, "recording and alert rules for Prometheus");
            app.add_option("-o,--output", options->output, "the file to write; standard output unless given")
                ->type_name("FILE");
            app.add_option("--project", options->project,
                           "of Google Cloud, to install in; else the one that the machine names")
                ->type_name("PROJECT");
            app.add_flag("--dry-run", options->is_rehearsal, "ask whether they would be taken, and install nothing");
            return [options](Context& context) {
              const Status checked = check(*options);
              if (!checked.ok()) return context.fail("dashboards", checked);
              return options->action == "install" ? run_install(context, *options) : run_export(context, *options);
            };
          }};
}

}  // namespace goodput::cli

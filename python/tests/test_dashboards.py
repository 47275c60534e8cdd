"""The dashboards and rules of dashboards/: every query parses, names what is really exported, and nothing overlaps.

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOODPUT = ROOT / "build/release/goodput"
FOLDER = ROOT / "dashboards"
CLOUD = {"cloud-monitoring": "cloud_monitoring.json", "jobset": "jobset.json"}

# What the incumbent writes, and so do we, under compute.googleapis.com/workload/.
WORKLOAD_SERIES = {
    "goodput_time",
    "badput_time",
    "total_elapsed_time",
    "disruptions",
    "max_productive_steps",
    "step_time_deviation",
    "performance",
    "interval_goodput",
    "interval_badput",
    "stepping_slice_efficiency",
    "available_slice_efficiency",
}
# What GKE publishes, as far as the dashboard uses it; distributions have three names in PromQL.
KUBERNETES_SERIES = {
    "jobset_scheduling_goodput",
    "jobset_proxy_runtime_goodput",
    "jobset_startup_duration",
    "jobset_uptime",
    "node_accelerator_duty_cycle",
    "node_accelerator_memory_used",
    "node_accelerator_memory_total",
    "node_interruption_count",
    "node_status_condition",
    "node_pool_interruption_count",
    "node_pool_multi_host_available",
    "node_pool_status",
    *(f"jobset_times_{what}_{part}" for what in ("between_interruptions", "to_recover") for part in ("sum", "count")),
}
PROMQL_WORDS = {"by", "on", "ignoring", "without", "and", "or", "unless", "offset", "bool", "group_left", "inf", "nan"}

# With the real library of Google's clients: a field that it does not know is an error.
PARSE_CLOUD = """
import sys
from google.cloud import monitoring_dashboard_v1 as v1
for path in sys.argv[1:]:
    dashboard = v1.Dashboard.from_json(open(path).read(), ignore_unknown_fields=False)
    print(len(dashboard.mosaic_layout.tiles))
"""
RULES_AS_JSON = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"


@pytest.fixture
def in_peers(peers):
    """in_peers(text, *arguments) → what that Python program prints where Google's client and PyYAML are."""

    def run(text, *arguments):
        command = [peers, "-c", text, *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return run


def load(name):
    return json.loads((FOLDER / name).read_text())


def values_of(tree, key):
    """Every value of `key` anywhere in a JSON tree."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name == key:
                yield value
            yield from values_of(value, key)
    elif isinstance(tree, list):
        for value in tree:
            yield from values_of(value, key)


def grafana_queries():
    return [query for query in values_of(load("grafana.json"), "expr")]


def cloud_queries(name):
    return list(values_of(load(name), "prometheusQuery"))


def metrics_in(query):
    """The names of the series that a PromQL expression asks for."""
    text = re.sub(r'"(?:\\.|[^"\\])*"', "", query)
    text = re.sub(r"\{[^}]*\}|\[[^\]]*\]", " ", text)
    text = re.sub(r"\b(by|on|ignoring|without|group_left|group_right)\s*\([^)]*\)", " ", text)
    names = re.findall(r"(?<![\w:.])[a-zA-Z_:][\w:]*(?![\w:])(?!\s*\()", text)
    return {name for name in names if name.lower() not in PROMQL_WORDS}


def exported_families():
    """What `goodput monitor --prometheus` can serve: the families of reports and of its own exporters."""
    of_reports = re.findall(r'out\.begin\(\s*"(\w+)"', (ROOT / "src/exporters/metrics.cc").read_text())
    of_exporters = re.findall(r'"(goodput_exporter_\w+)"', (ROOT / "src/exporters/pipe/pipe_metrics.cc").read_text())
    return {
        *of_reports,
        *(name if name.endswith("_timestamp_seconds") else f"{name}_total" for name in of_exporters),
    }


def matched_labels(queries):
    """(label, value) of every matcher of one value; patterns and variables are left out."""
    return {pair for query in queries for pair in re.findall(r'(\w+)="([^"$]+)"', query)}


def is_exported(label, value):
    """Whether a sample of a report can have that label."""
    folder = ROOT / "src"
    metrics = (folder / "exporters/metrics.cc").read_text()
    names = metrics + (folder / "report/words.cc").read_text() + (folder / "report/terminal/palette.cc").read_text()
    return f'{{"{label}", ' in metrics and f'"{value}"' in names


def overlaps(boxes):
    """Pairs of (x, y, width, height) that share a cell."""
    return [
        (a, b)
        for a, b in itertools.combinations(boxes, 2)
        if a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
    ]


def promtool(*arguments):
    outcome = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


def check_queries(queries, path):
    """All of them parse as PromQL: as rules, since promtool checks those without a server."""
    rules = [{"record": "checked", "labels": {"n": str(n)}, "expr": query} for n, query in enumerate(queries)]
    path.write_text(json.dumps({"groups": [{"name": "checked", "rules": rules}]}))
    assert f"{len(queries)} rules found" in promtool("check", "rules", path)


def test_what_the_tests_look_for_is_there():
    assert metrics_in('100 * sum by (job) (a_b{c="d{e}"}) / scalar(sum(x:y[1h] offset 5m) > 2) and on (f) g') == {
        "a_b",
        "x:y",
        "g",
    }
    assert {"goodput_ratio", "job_status", "goodput_exporter_sent_total"} <= exported_families()
    assert overlaps([(0, 0, 4, 4), (4, 0, 4, 4), (3, 3, 2, 2)]) == [
        ((0, 0, 4, 4), (3, 3, 2, 2)),
        ((4, 0, 4, 4), (3, 3, 2, 2)),
    ]
    assert len(grafana_queries()) > 30
    assert matched_labels(['a{b="c",d=~"e",f="$g"}']) == {("b", "c")}
    assert is_exported("percentile", "p99")
    assert not is_exported("percentile", "99")
    assert is_exported("status", "stalled")


def test_grafana_asks_for_what_is_exported(tmp_path):
    queries = grafana_queries()
    assert set().union(*map(metrics_in, queries)) <= exported_families()
    assert [pair for pair in matched_labels(queries) if not is_exported(*pair)] == []
    filled = [q.replace("$__rate_interval", "5m").replace("$job", ".*").replace("$window", "1h") for q in queries]
    assert not [query for query in filled if "$" in query]
    check_queries(filled, tmp_path / "queries.json")


def test_grafana_panels_fit_and_do_not_overlap():
    dashboard = load("grafana.json")
    boxes = [tuple(panel["gridPos"][key] for key in "xywh") for panel in dashboard["panels"]]
    assert overlaps(boxes) == []
    assert all(x >= 0 and x + width <= 24 for x, _, width, _ in boxes)
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids))
    variables = {variable["name"] for variable in dashboard["templating"]["list"]}
    assert {"datasource", "job", "window"} == variables
    for panel in dashboard["panels"]:
        assert panel["type"] == "row" or panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        letters = [target["refId"] for target in panel.get("targets", [])]
        assert letters == sorted(set(letters))


@pytest.mark.parametrize("name", CLOUD.values())
def test_cloud_dashboards_ask_for_what_is_written(name, tmp_path):
    queries = cloud_queries(name)
    known = {f"compute_googleapis_com:workload_{series}" for series in WORKLOAD_SERIES} | {
        f"kubernetes_io:{series}" for series in KUBERNETES_SERIES
    }
    asked = set().union(*map(metrics_in, queries))
    assert asked <= known
    if name == "cloud_monitoring.json":
        assert asked == {f"compute_googleapis_com:workload_{series}" for series in WORKLOAD_SERIES}
    assert all("monitored_resource=" in query for query in queries)
    check_queries(queries, tmp_path / "queries.json")


@pytest.mark.parametrize("name", CLOUD.values())
def test_cloud_tiles_fill_their_rows_and_do_not_overlap(name):
    layout = load(name)["mosaicLayout"]
    boxes = [(tile.get("xPos", 0), tile.get("yPos", 0), tile["width"], tile["height"]) for tile in layout["tiles"]]
    assert overlaps(boxes) == []
    assert all(x + width <= layout["columns"] for x, _, width, _ in boxes)
    bottom = max(y + height for _, y, _, height in boxes)
    assert sum(width * height for _, _, width, height in boxes) == layout["columns"] * bottom
    contents = {"text", "sectionHeader", "scorecard", "xyChart", "pieChart", "timeSeriesTable"}
    for tile in layout["tiles"]:
        assert len(set(tile["widget"]) - {"title", "id"}) == 1
        assert set(tile["widget"]) - {"title", "id"} <= contents


def test_cloud_dashboards_are_of_googles_schema(in_peers):
    counts = in_peers(PARSE_CLOUD, *(FOLDER / name for name in CLOUD.values())).split()
    assert [int(count) for count in counts] == [len(load(name)["mosaicLayout"]["tiles"]) for name in CLOUD.values()]


def test_rules_pass_promtool():
    assert "SUCCESS" in promtool("check", "rules", FOLDER / "prometheus_rules.yaml")
    assert "SUCCESS" in promtool("test", "rules", FOLDER / "prometheus_rules_test.yaml")


def test_rules_ask_for_what_is_exported_and_each_alert_is_tested(in_peers):
    groups = json.loads(in_peers(RULES_AS_JSON, FOLDER / "prometheus_rules.yaml"))["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    recorded = {rule["record"] for rule in rules if "record" in rule}
    assert set().union(*(metrics_in(rule["expr"]) for rule in rules)) <= exported_families() | recorded
    assert [pair for rule in rules for pair in matched_labels([rule["expr"]]) if not is_exported(*pair)] == []
    tests = json.loads(in_peers(RULES_AS_JSON, FOLDER / "prometheus_rules_test.yaml"))["tests"]
    fired = {case["alertname"] for test in tests for case in test.get("alert_rule_test", []) if case["exp_alerts"]}
    assert fired == {rule["alert"] for rule in rules if "alert" in rule}


@pytest.mark.parametrize(
    "flag, name",
    [("--grafana", "grafana.json"), ("--rules", "prometheus_rules.yaml")]
    + [(f"--{flag}", name) for flag, name in CLOUD.items()],
)
def test_the_program_carries_them(flag, name, tmp_path):
    exported = subprocess.run([GOODPUT, "dashboards", "export", flag], check=True, capture_output=True).stdout
    assert exported == (FOLDER / name).read_bytes()
    subprocess.run([GOODPUT, "dashboards", "export", flag, "-o", tmp_path / "file"], check=True)
    assert (tmp_path / "file").read_bytes() == exported


@pytest.mark.parametrize("arguments", [[], ["--grafana", "--rules"]])
def test_one_is_exported_at_a_time(arguments):
    outcome = subprocess.run([GOODPUT, "dashboards", "export", *arguments], capture_output=True, text=True)
    assert outcome.returncode == 2
    assert "--grafana" in outcome.stderr or "one at a time" in outcome.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["install", "--grafana", "--project", "p"],
        ["install", "-o", "x"],
        ["export", "--rules", "--dry-run"],
        ["export", "--rules", "--project", "p"],
    ],
)
def test_an_option_of_the_other_action_is_refused(arguments):
    outcome = subprocess.run([GOODPUT, "dashboards", *arguments], capture_output=True, text=True)
    assert outcome.returncode == 2
    assert "installing: " in outcome.stderr or "go with install" in outcome.stderr

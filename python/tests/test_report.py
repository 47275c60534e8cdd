"""goodput.report(): the report of a job as frozen dataclasses, as JSON, as numbers and as HTML.

SPDX-License-Identifier: Apache-2.0
"""

import dataclasses
import datetime
import html.parser
import json
import pickle
import re
import time
from pathlib import Path

import goodput
import pytest
from goodput import _report

ROOT = Path(__file__).resolve().parent.parent.parent
UTC = datetime.timezone.utc
DOCUMENTED = re.search(r"```json\n(.*?)```", (ROOT / "docs/formats/report.md").read_text(), re.DOTALL)[1]


@pytest.fixture
def trained(job):
    """A job of ten steps, with an evaluation between."""
    rec = goodput.Recorder(job, labels={"team": "nlp"}, accelerators=8, accelerator_type="H100")
    with rec.job():
        with rec.training_prep():
            time.sleep(0.01)
        for step in range(10):
            with rec.step(step):
                time.sleep(0.005)
        with rec.custom("eval"):
            time.sleep(0.01)
    return job


def test_a_job_that_has_been_recorded(trained):
    report = goodput.report(trained, price=2.5)
    assert (report.job, report.status, report.provisional) == (trained, "completed", False)
    assert report.labels == {"team": "nlp"}
    assert (report.accelerators, report.accelerator_type, report.currency) == (8, "H100", "USD")
    assert report.max_productive_step == report.last_step == 9
    assert 30 < report.goodput_percent < 90
    assert report.badput_seconds["TRAINING_PREP"] >= 0.01
    assert report.custom_badput_seconds["EVAL"] >= 0.01
    parts = report.goodput_seconds + sum(report.badput_seconds.values()) + sum(report.custom_badput_seconds.values())
    assert parts == pytest.approx(report.elapsed_seconds, abs=1e-6)
    assert sum(report.cost.values()) == pytest.approx(report.elapsed_seconds / 3600 * 8 * 2.5)
    assert report.start.tzinfo is UTC
    assert report.end - report.start == pytest.approx(
        datetime.timedelta(seconds=report.elapsed_seconds), abs=datetime.timedelta(microseconds=2)
    )
    (attempt,) = report.attempts
    assert (attempt.status, attempt.first_step, attempt.last_step) == ("completed", 0, 9)
    assert sum(sum(seconds) for seconds in report.timeline.seconds.values()) == pytest.approx(report.elapsed_seconds)


def test_what_is_asked(trained):
    whole = goodput.report(trained)
    middle = whole.start + (whole.end - whole.start) / 2
    part = goodput.report(trained, end=middle, windows=[0.01, datetime.timedelta(hours=1)])
    assert part.clipped
    assert part.elapsed_seconds == pytest.approx(whole.elapsed_seconds / 2, abs=2e-6)
    assert [window.window_seconds for window in part.windows] == [0.01, 3600]
    assert part.windows[0].elapsed_seconds == pytest.approx(0.01)
    less = goodput.report(trained, exclusions=[(whole.start, middle)], now=time.time())
    assert less.elapsed_seconds == pytest.approx(whole.elapsed_seconds / 2, abs=2e-6)
    assert less.exclusions[0].end == middle.replace(microsecond=middle.microsecond)
    naive = datetime.datetime.fromtimestamp(middle.timestamp())
    assert goodput.report(trained, end=naive).elapsed_seconds == pytest.approx(part.elapsed_seconds, abs=2e-6)


def test_absent_answers_are_none(job):
    goodput.Recorder(job).heartbeat()
    rec = goodput.Recorder(job)
    rec.record_step(3)
    report = goodput.report(job, dead_after=datetime.timedelta(hours=1), stall_factor=0, stall_floor=5)
    assert report.provisional
    for name in ("mtbf_seconds", "mttr_seconds", "cost", "accelerators", "slice_efficiency", "ideal_step_time_seconds"):
        assert getattr(report, name) is None


def test_no_such_job_is_a_goodput_error():
    with pytest.raises(goodput.GoodputError, match='job "nowhere": nothing is recorded of it'):
        goodput.report("nowhere")


def test_runs_are_named_behind_an_at_sign(job):
    for run in ("a", "b"):
        goodput.Recorder(job, run_id=run).record_step(1)
    assert goodput.report(f"{job}@a").run_id == "a"
    assert goodput.report(job).run_id == "b"


def test_a_folder_can_be_named(tmp_path):
    goodput.Recorder("elsewhere", directory=tmp_path / "x").record_step(1)
    assert goodput.report("elsewhere", directory=tmp_path / "x").last_step == 1
    with pytest.raises(goodput.GoodputError):
        goodput.report("elsewhere")


def keys(value, path=""):
    """The dotted names of all members, of a list those of its first item."""
    if isinstance(value, list):
        return keys(value[0], path) if value else set()
    if not isinstance(value, dict):
        return {path}
    return {path, *(key for name, member in value.items() for key in keys(member, f"{path}.{name}"))}


def plain(value):
    """A dataclass as the JSON that it was made of."""
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.name != "_json"}
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return {name: plain(member) for name, member in value.items()} if isinstance(value, dict) else value


def test_fields_are_the_keys_of_the_document():
    report = goodput.Report.from_json(DOCUMENTED)
    assert plain(report) == json.loads(DOCUMENTED)
    assert list(plain(report)) != []
    assert keys(plain(report)) == keys(json.loads(DOCUMENTED))


def test_to_json_is_what_was_read():
    report = goodput.Report.from_json(DOCUMENTED)
    assert json.loads(report.to_json()) == json.loads(DOCUMENTED)
    assert report.to_json(indent=2) == DOCUMENTED.strip()
    assert "\n" not in report.to_json()
    assert goodput.Report.from_json(report.to_json()) == report


def test_reports_of_other_versions_can_be_read():
    members = json.loads(DOCUMENTED)
    del members["timeline"], members["ranks"]
    members["of_a_newer_version"] = members["attempts"][0]["colour"] = 1
    report = goodput.Report.from_json(json.dumps(members))
    assert report.timeline is None
    assert report.ranks == ()
    for text in ("", "[]", "{}", '{"schema": 1}', "no JSON"):
        with pytest.raises(goodput.GoodputError, match="reading a report"):
            goodput.Report.from_json(text)


def test_reports_do_not_change():
    report = goodput.Report.from_json(DOCUMENTED)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.job = "another"
    assert isinstance(report.attempts, tuple)
    assert pickle.loads(pickle.dumps(report)) == report


def test_flat_has_every_number_by_its_dotted_name():
    flat = goodput.Report.from_json(DOCUMENTED).flat()
    assert flat["goodput_percent"] == 90
    assert flat["badput_seconds.OTHER"] == 100
    assert flat["windows.3600.goodput_percent"] == 91.111111
    assert flat["step_time_percentiles_seconds.p99"] == 9.1
    assert all(isinstance(value, float) for value in flat.values())


def test_printed_it_is_the_page_of_the_program():
    report = goodput.Report.from_json(DOCUMENTED)
    assert "Where the time went" in str(report)
    assert "\x1b" not in str(report)
    assert repr(report) == "<goodput.Report of job 'llama-7b': 90.00 % goodput of 7200.0 s, running>"


class Page(html.parser.HTMLParser):
    """Checks that tags nest, and collects them and the text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.attributes = [], set(), [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("br", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):  # NOLINT(name): HTMLParser calls it so
        self.text.append(text)


def page_of(report):
    page = Page()
    page.feed(report._repr_html_())
    assert page.open == []
    return page


def test_html_says_what_the_report_says():
    page = page_of(goodput.Report.from_json(DOCUMENTED))
    text = " ".join(page.text)
    for said in (
        "llama-7b",
        "90.00 %",
        "2 attempts",
        "program startup",
        "EVAL",
        "288.00 USD",
        "restart: oom",
        "4 min 10 s",
    ):
        assert said in text, said
    assert page.tags <= {"div", "span", "b", "table", "tr", "td", "svg", "rect", "br"}
    assert not {"href", "src"} & page.attributes


HOSTILE = "<img src=x onerror=alert(1)>\"'&</td></div><script>"


def hostile(value):
    if isinstance(value, dict):
        named = {name: hostile(member) for name, member in value.items()}
        if "EVAL" in named:
            named[HOSTILE] = named.pop("EVAL")
        return named
    if isinstance(value, list):
        return [hostile(item) for item in value]
    return HOSTILE if isinstance(value, str) and not re.match(r"\d{4}-", value) else value


def test_no_text_becomes_markup():
    page = page_of(goodput.Report.from_json(json.dumps(hostile(json.loads(DOCUMENTED)))))
    assert not {"img", "script"} & page.tags
    assert HOSTILE in " ".join(page.text)


def test_html_of_a_job_that_has_only_begun(job):
    goodput.Recorder(job).record_step(1)
    assert job in " ".join(page_of(goodput.report(job)).text)
    empty = json.loads(DOCUMENTED)
    empty.update(elapsed_seconds=0, goodput_seconds=0, goodput_percent=None, badput_seconds={}, timeline=None)
    empty.update(custom_badput_seconds={}, attempts=[], disruption_records=[], step_time_percentiles_seconds=None)
    page_of(goodput.Report.from_json(json.dumps(empty)))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0123, "12.3 ms"),
        (1.5, "1.5 s"),
        (59.94, "59.9 s"),
        (60, "1 min"),
        (3599.6, "59 min 59 s"),
        (3600, "1 h"),
        (90061, "1 d 1 h"),
        (7290, "2 h 1 min"),
    ],
)
def test_durations_in_words(seconds, words):
    from goodput import _report_html

    assert _report_html._duration(seconds) == words


def test_every_name_is_offered():
    assert set(goodput.__all__) <= set(dir(goodput))
    for name in goodput.__all__:
        assert getattr(goodput, name) is not None
    assert goodput.report is _report.report
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = goodput.nothing

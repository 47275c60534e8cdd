"""A report as HTML for notebooks: one piece without scripts, files or fonts of its own, every text escaped.

Colours are those of the terminal page (src/report/terminal/palette.cc); they show on light and on dark grounds.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._report import Disruption, Finding, Report, Timeline

# class: (colour, what it is); in the order in which a job lives through them.
_LOOKS = {
    "PRODUCTIVE": ("#00af5f", "steps whose work was kept"),
    "ACCELERATOR_INITIALIZATION": ("#afaf87", "devices and runtime coming up"),
    "TRAINING_PREP": ("#af875f", "building model and optimizer"),
    "PROGRAM_STARTUP": ("#e6c200", "compilation and warm-up steps"),
    "DATA_LOADING_SYNC": ("#875fff", "waiting for input"),
    "CHECKPOINT_SAVE": ("#5f87af", "steps held up by a save"),
    "CHECKPOINT_RESTORE": ("#5fc7d7", "reading a checkpoint back"),
    "CUSTOM_BADPUT_EVENTS": ("#87afff", "events that you named"),
    "ELASTIC_SLICE_DOWN": ("#af5f87", "waiting for a lost slice"),
    "ELASTIC_SCALE_UP": ("#d787d7", "waiting while slices join"),
    "ELASTIC_REINITIALIZATION": ("#af87af", "restart after slices changed"),
    "WASTED_PROGRESS": ("#ff8700", "steps lost and done again"),
    "STALLED": ("#d70087", "alive without progress"),
    "INFRASTRUCTURE_RECOVERY": ("#d70000", "no training process alive"),
    "OTHER": ("#8a8a8a", "nothing recorded explains it"),
}
_ORDER = {name: place for place, name in enumerate(_LOOKS)}
_STATUS_COLORS = {
    "running": "#5f87d7",
    "completed": "#00af5f",
    "failed": "#d75f5f",
    "stalled": "#d7af00",
    "down": "#d75f5f",
}
_SEVERITY_COLORS = {"info": "#8a8a8a", "warning": "#d7af00", "error": "#d75f5f"}
# More rows than these are for `goodput disruptions` and `goodput report`.
_DISRUPTIONS_SHOWN = 10
_CUSTOM_SHOWN = 8

_LINE = "1px solid rgba(128,128,128,.25)"
_QUIET = "opacity:.65"


def _look(name: str) -> tuple[str, str]:
    return _LOOKS.get(name, _LOOKS["OTHER"])


def _duration(seconds: float) -> str:
    """Two units, as people say it, rounded down."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    for unit, name, smaller, smaller_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= unit:
            whole, rest = divmod(int(seconds // smaller), unit // smaller)
            return f"{whole} {name} {rest} {smaller_name}" if rest else f"{whole} {name}"
    return f"{seconds:.0f} s"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f} %"  # noqa: RUF001


def _label(name: str) -> str:
    return name.replace("_BADPUT", "").replace("_", " ").lower()


def _cell(text: str, *, right: bool = False, style: str = "") -> str:
    align = "right" if right else "left"
    return (
        f'<td style="text-align:{align};padding:3px 14px 3px 0;border:none;background:none;vertical-align:top;'
        f'white-space:{"nowrap" if right else "normal"};{style}">{text}</td>'
    )


def _table(rows: Iterable[str]) -> str:
    body = "".join(f'<tr style="background:none;border-bottom:{_LINE}">{row}</tr>' for row in rows)
    return f'<table style="border-collapse:collapse;margin:0;font-size:13px;color:inherit">{body}</table>'


def _section(title: str, body: str) -> str:
    heading = f'<div style="font-weight:600;margin:18px 0 6px 0">{escape(title)}</div>'
    return heading + body


def _swatch(name: str) -> str:
    return (
        f'<span style="display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:8px;'
        f'background:{_look(name)[0]}"></span>'
    )


def _seconds_by_class(report: Report) -> dict[str, float]:
    seconds = {"PRODUCTIVE": report.goodput_seconds, **report.badput_seconds}
    if report.custom_badput_seconds:
        seconds["CUSTOM_BADPUT_EVENTS"] = sum(report.custom_badput_seconds.values())
    return {name: seconds[name] for name in sorted(seconds, key=lambda n: _ORDER.get(n, len(_ORDER))) if seconds[name]}


def _headline(report: Report) -> str:
    name = escape(report.job) + (f'<span style="{_QUIET}">@{escape(report.run_id)}</span>' if report.run_id else "")
    color = _STATUS_COLORS.get(report.status, "#8a8a8a")
    attempts = len(report.attempts) + report.omitted.get("attempts", 0)
    facts = [
        f"{_duration(report.elapsed_seconds)}",
        _count(attempts, "attempt"),
        _count(report.disruptions, "disruption"),
    ]
    if report.max_productive_step:
        facts.append(f"step {report.max_productive_step:,} kept")
    if report.clipped:
        facts.append("a part of the job")
    return (
        f'<div style="display:flex;align-items:baseline;gap:10px;font-size:16px"><b>{name}</b>'
        f'<span style="font-size:11px;color:#fff;background:{color};border-radius:9px;padding:1px 8px">'
        f"{escape(report.status)}</span></div>"
        f'<div style="display:flex;align-items:baseline;gap:12px;margin:6px 0 8px 0">'
        f'<span style="font-size:34px;font-weight:700;line-height:1">{_percent(report.goodput_percent)}</span>'
        f'<span style="font-size:14px">goodput</span><span style="{_QUIET}">{" · ".join(facts)}</span></div>'
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _bar(seconds: dict[str, float]) -> str:
    total = sum(seconds.values()) or 1
    parts = "".join(
        f'<div title="{escape(_label(name))}: {_duration(part)}, {_percent(part / total * 100)}" '
        f'style="width:{part / total * 100:.4f}%;background:{_look(name)[0]}"></div>'
        for name, part in seconds.items()
    )
    return f'<div style="display:flex;height:22px;border-radius:4px;overflow:hidden">{parts}</div>'


def _ribbon(timeline: Timeline) -> str:
    """The job from left to right; each column is divided as its time was."""
    height, columns = 46, timeline.buckets
    names = sorted(timeline.seconds, key=lambda n: _ORDER.get(n, len(_ORDER)))
    rectangles = []
    for column in range(columns):
        whole = sum(timeline.seconds[name][column] for name in names)
        top = float(height)
        for name in names if whole > 0 else ():
            part = timeline.seconds[name][column] / whole * height
            if part > 0:
                top -= part
                rectangles.append(
                    f'<rect x="{column}" y="{top:.2f}" width="1.02" height="{part:.2f}" fill="{_look(name)[0]}"/>'
                )
    ends = "".join(
        f'<span style="{_QUIET};font-size:11px">{moment:%Y-%m-%d %H:%M:%S} UTC</span>'
        for moment in (timeline.start, timeline.end)
    )
    return (
        f'<svg viewBox="0 0 {columns} {height}" preserveAspectRatio="none" shape-rendering="crispEdges" '
        f'style="display:block;width:100%;height:{height}px;border-radius:4px">{"".join(rectangles)}</svg>'
        f'<div style="display:flex;justify-content:space-between">{ends}</div>'
    )


def _breakdown(report: Report, seconds: dict[str, float]) -> str:
    total = report.elapsed_seconds or 1
    rows = []
    for name, part in seconds.items():
        cells = [
            _cell(_swatch(name) + escape(_label(name))),
            _cell(_duration(part), right=True),
            _cell(_percent(part / total * 100), right=True),
        ]
        if report.cost is not None:
            cells.append(_cell(f"{report.cost.get(name, 0):,.2f} {escape(report.currency)}", right=True))
        rows.append("".join([*cells, _cell(_look(name)[1], style=_QUIET)]))
        if name == "CUSTOM_BADPUT_EVENTS":
            rows += _custom_rows(report, total, len(cells))
    return _table(rows)


def _custom_rows(report: Report, total: float, columns: int) -> list[str]:
    largest = sorted(report.custom_badput_seconds.items(), key=lambda item: -item[1])
    rows = []
    for name, part in largest[:_CUSTOM_SHOWN]:
        cells = [
            _cell(f'<span style="margin-left:18px">{escape(name)}</span>', style=_QUIET),
            _cell(_duration(part), right=True, style=_QUIET),
            _cell(_percent(part / total * 100), right=True, style=_QUIET),
        ]
        rows.append("".join([*cells, *[_cell("")] * (columns + 1 - len(cells))]))
    return rows


def _disruption_rows(disruptions: Iterable[Disruption]) -> Iterable[str]:
    for disruption in disruptions:
        cause = escape(disruption.cause) + (" (planned)" if disruption.planned else "")
        wasted = f"{_count(disruption.steps_wasted, 'step')} wasted, {_duration(disruption.wasted_seconds)}"
        recovered = "not yet recovered"
        if disruption.recovery_seconds is not None:
            recovered = f"{_duration(disruption.recovery_seconds)} to recover"
        yield (
            _cell(f"{disruption.time:%Y-%m-%d %H:%M:%S}", style="white-space:nowrap")
            + _cell(f"{escape(disruption.kind)}: {cause}", style="white-space:nowrap")
            + _cell(wasted, style="white-space:nowrap")
            + _cell(recovered, style="white-space:nowrap")
            + _cell(escape(disruption.detail), style=_QUIET)
        )


def _steps(report: Report) -> str:
    percentiles = report.step_time_percentiles_seconds
    if percentiles is None:
        return ""
    facts = [
        f"median {_duration(percentiles.p50)}",
        f"p99 {_duration(percentiles.p99)}",
        f"longest {_duration(percentiles.max)}",
    ]
    if report.ideal_step_time_seconds is not None:
        facts.append(f"ideal {_duration(report.ideal_step_time_seconds)}")
    if report.steps_per_second is not None:
        facts.append(f"{report.steps_per_second:.3g} steps/s")
    return _section("Steps", f"<div>{' · '.join(facts)}</div>")


def _finding_rows(findings: Iterable[Finding]) -> Iterable[str]:
    for finding in findings:
        color = _SEVERITY_COLORS.get(finding.severity, "#8a8a8a")
        yield (
            _cell(f'<span style="color:{color}">●</span> {escape(_label(finding.kind))}', style="white-space:nowrap")
            + _cell(f'{escape(finding.message)}<br><span style="{_QUIET}">{escape(finding.fix)}</span>')
        )


def html_of(report: Report) -> str:
    seconds = _seconds_by_class(report)
    parts = [_headline(report), _bar(seconds)]
    if report.timeline is not None and report.timeline.buckets:
        parts.append(_section("Along the job", _ribbon(report.timeline)))
    parts.append(_section("Where the time went", _breakdown(report, seconds)))
    if report.disruption_records:
        latest = report.disruption_records[: -_DISRUPTIONS_SHOWN - 1 : -1]
        title = "Disruptions" if len(latest) == report.disruptions else f"Disruptions, the latest {len(latest)}"
        parts.append(_section(title, _table(_disruption_rows(latest))))
    parts.append(_steps(report))
    if report.data_quality.findings:
        parts.append(_section("Quality of the recording", _table(_finding_rows(report.data_quality.findings))))
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px;line-height:1.4;max-width:860px;padding:4px 0;'
        f'color:inherit">{"".join(parts)}</div>'
    )

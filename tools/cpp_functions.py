"""Where the functions of a C++ file begin and end, found by its braces alone.

    for name, first_line, last_line in cpp_functions.functions(sources.strip_cpp(text)): ...

A brace opens a function when what stands before it, back to the last statement, has a parameter list and is no
namespace, type or initialiser. Lambdas belong to the function that they are in.

SPDX-License-Identifier: Apache-2.0
"""

import re
from typing import Optional

_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
_NAME = re.compile(r"(operator\s*[^\s(]+|~?\w+(?:::~?\w+)*)\s*\(")
# `) : member_` or `, member_` before a brace: it initialises a member, and the function's own brace is still to come.
_MEMBER = re.compile(r"\)\s*(?:noexcept\s*)?:.*[\w>]\s*$", re.DOTALL)
_ASSIGNED = re.compile(r"(?<![=!<>])=(?!=)")


def functions(code: str) -> list[tuple[str, int, int]]:
    """(name, first line, last line) of each function with a body, in order; `code` comes from strip_cpp."""
    code = _PREPROCESSOR.sub(lambda m: "\n" * m.group().count("\n"), code)
    found = []
    start = 0  # of the statement at hand
    at = 0
    while at < len(code):
        letter = code[at]
        if letter in ";}":
            start = at + 1
        elif letter == "{":
            head = code[start:at]
            if _is_member_initialiser(head):
                at = _closing(code, at)
            elif (name := _function_name(head)) is not None:
                end = _closing(code, at)
                first = start + len(head) - len(head.lstrip())
                found.append((name, code.count("\n", 0, first) + 1, code.count("\n", 0, end) + 1))
                at = end
                start = end + 1
            elif _SCOPE.search(_without_template(head)) and not _ASSIGNED.search(head):
                start = at + 1
            else:
                at = _closing(code, at)
        at += 1
    return found


def _closing(code: str, opening: int) -> int:
    """Where the brace that opens at `opening` is closed; the end of the file when it is not."""
    depth = 0
    for at in range(opening, len(code)):
        if code[at] == "{":
            depth += 1
        elif code[at] == "}":
            depth -= 1
            if depth == 0:
                return at
    return len(code) - 1


def _without_template(head: str) -> str:
    """The head without `template <…>`, whose parameters also say class."""
    return re.sub(r"\btemplate\s*<[^{}]*?>\s*(?=\w)", "", head)


def _is_member_initialiser(head: str) -> bool:
    return _MEMBER.search(head) is not None and not head.rstrip().endswith(("const", "noexcept", "override", "final"))


def _function_name(head: str) -> Optional[str]:
    """The name of the function whose body follows `head`; None when it is none."""
    plain = re.sub(r"\[\[.*?\]\]", "", _without_template(head), flags=re.DOTALL)
    match = _NAME.search(plain)
    if match is None:
        return None
    before = plain[: match.start()]
    if match.group(1) in ("alignas", "__attribute__"):
        return None  # of a type, as in `class alignas(64) Lane {`
    if _ASSIGNED.search(before) and "operator" not in match.group(1):
        return None
    return match.group(1)

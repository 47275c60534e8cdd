#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/fixtures/numbers.tsv and tests/fixtures/upper.tsv: what Python makes of numbers and names.

Usage: tools/make_number_cases.py        (from the root of the repository; deterministic)

numbers.tsv: text, nanoseconds of it as seconds in [0, 4e9] or "-", integer within 2^53 or "-", nearest double in hex
upper.tsv:   text, text.upper(), both as hexadecimal UTF-8
"""

import random
from decimal import Decimal, getcontext

MOST_NS, MOST_STEP = 4 * 10**18, 2**53
getcontext().prec = 1000


def digits(r, n):
    return "".join(r.choice("0123456789") for _ in range(n))


def number(r):
    kind = r.randrange(8)
    if kind == 0:
        return repr(r.random() * 4e9)
    if kind == 1:
        return f"{r.randrange(1, 4 * 10**9)}.{digits(r, r.randrange(1, 14))}"
    if kind == 2:  # exact halves of a nanosecond, and next to them
        tail = r.choice(["5", "50", "5000000000000000000000", "49999999999999999999999", "50000000000000000000001"])
        return f"{r.randrange(0, 3 * 10**9)}.{digits(r, 9)}{tail}"
    if kind == 3:
        return f"{r.choice('-+ ')}{r.randrange(1, 100)}.{digits(r, 3)}e{r.choice(['', '+', '-'])}{r.randrange(0, 25)}".strip(
            " +"
        )
    if kind == 4:
        return (
            f"{r.randrange(1, 10**9)}"
            + "0" * r.randrange(0, 30)
            + r.choice(["", ".0", ".000", f"e-{r.randrange(0, 30)}"])
        )
    if kind == 5:
        return r.choice(["", "-"]) + str(MOST_STEP + r.randrange(-2, 3)) + r.choice(["", ".0", ".5"])
    if kind == 6:
        return "0." + "0" * r.randrange(0, 30) + digits(r, r.randrange(1, 30))
    return f"{r.randrange(1, 10)}{digits(r, r.randrange(0, 400))}" + r.choice(
        ["", "." + digits(r, r.randrange(1, 400)), "." + "0" * 400]
    )


FIXED = [
    "0",
    "-0",
    "0.0",
    "-0.0",
    "0e5",
    "4000000000",
    "4000000000.0000000001",
    "3999999999.9999999996",
    "4e9",
    "4E+9",
    "40e8",
    "-1e-30",
    "1e400",
    "-1e400",
    "1e-400",
    "1e999999999999999999",
    "1e-999999999999999999",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740992",
    "0.0000000005",
    "0.0000000015",
    "0.00000000051",
    "1e-9",
    "5e-10",
    "1.5e-9",
    "1767225725.118402",
    "18446744073709551616",
    "18446744073.709551616",
    "10000000000000000000",
    "9999999999999999999",
    "1234567890.12345678950",
]


def expected(text):
    value = Decimal(text) if "e" not in text or len(text.split("e")[1].lstrip("+-")) < 6 else None
    if value is None:  # beyond what Python holds: tiny or huge
        tiny = "e-" in text
        return ("0" if tiny else "-"), "-", (0.0 if tiny else float("inf")).hex()
    scaled = value * 10**9
    ns = str(int(scaled.to_integral_value())) if 0 <= scaled <= MOST_NS else "-"
    whole = value == value.to_integral_value() if abs(value) <= MOST_STEP else False
    return ns, str(int(value)) if whole else "-", float(text).hex()


def names(r):
    yield from (
        "eval",
        "Straße",
        "ŉ",
        "ﬁnal",
        "ǆ",
        "ǅ",
        "ÿ",
        "µ",
        "ı",  # noqa: RUF001
        "İ",
        "ᾳ",
        "ᾼ",
        "ΐ",
        "𐐨",
        "ß" * 3,
        "",
        "naïve Σς",
        "ა",
        "ꭰ",
        "\U0001e922",
    )
    for _ in range(600):
        yield "".join(
            chr(
                r.choice(
                    [
                        r.randrange(0x20, 0x250),
                        r.randrange(0x370, 0x600),
                        r.randrange(0x1000, 0x2200),
                        r.randrange(0x2C00, 0x2E00),
                        r.randrange(0xA600, 0xAC00),
                        r.randrange(0xFB00, 0xFFFF),
                        r.randrange(0x10400, 0x10600),
                        r.randrange(0x10C00, 0x1EA00),
                    ]
                )
            )
            for _ in range(8)
        )


def main():
    r = random.Random(7)
    with open("tests/fixtures/numbers.tsv", "w") as out:
        for text in FIXED + [number(r) for _ in range(1500)]:
            print(text, *expected(text), sep="\t", file=out)
    with open("tests/fixtures/upper.tsv", "w") as out:
        for text in names(r):
            print(text.encode().hex(), text.upper().encode().hex(), sep="\t", file=out)


if __name__ == "__main__":
    main()

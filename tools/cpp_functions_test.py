# SPDX-License-Identifier: Apache-2.0
"""Functions are found by their braces, whatever stands around them."""

import cpp_functions
import pytest
import sources


def found(text: str) -> list[tuple[str, int, int]]:
    return cpp_functions.functions(sources.strip_cpp(text))


@pytest.mark.parametrize(
    ("text", "functions"),
    [
        ("int f() {\n  return 1;\n}\n", [("f", 1, 3)]),
        ("namespace a::b {\nvoid f() {\n}\n}\n", [("f", 2, 3)]),
        ("class A final : public B {\n public:\n  int f() const override {\n  }\n};\n", [("f", 2, 4)]),
        ("A::A(int x)\n    : x_(x), y_{x} {\n  g();\n}\nint h() { return 0; }\n", [("A::A", 1, 4), ("h", 5, 5)]),
        ("A::A() noexcept : x_{1},\n y_{2}\n{\n}\n", [("A::A", 1, 4)]),
        ("A::~A() { if (x) { y(); } }\n", [("A::~A", 1, 1)]),
        ("template <class T, typename U>\nT f(U u) {\n}\n", [("f", 1, 3)]),
        ("auto f() -> std::vector<int> {\n}\n", [("f", 1, 2)]),
        ("bool operator==(const A& a, const A& b) {\n}\n", [("operator==", 1, 2)]),
        ("TEST_F(Reader, DropsTheTail) {\n}\n", [("TEST_F", 1, 2)]),
        ("constexpr int kTable[] = {\n 1,\n 2,\n};\n", []),
        ("const auto kLess = [](int a, int b) {\n return a < b;\n};\n", []),
        ("const std::map<int, int> kMap{{1, 2},\n{3, 4}};\n", []),
        ("enum class Kind : uint8_t {\n kA = 1,\n};\nint f() {}\n", [("f", 4, 4)]),
        ('extern "C" {\nint f(void) {\n}\n}\n', [("f", 2, 3)]),
        ("#define M(x) \\\n  do { \\\n  } while (0)\nint f() {\n}\n", [("f", 4, 5)]),
        ('// int g() {\n/* { */ int f() {\n  auto s = "}"; char c = \'}\'; auto r = R"(})";\n}\n', [("f", 2, 4)]),
        ("struct Point make(int x) {\n}\n", [("make", 1, 2)]),
        ("struct alignas(64) Lane {\n int f() {\n }\n};\n", [("f", 2, 3)]),
        ("void f() {\n  auto g = [] {\n  };\n  struct L { void h() {} };\n}\n", [("f", 1, 5)]),
        ("int x = 1'000'000;\nint f() {\n}\n", [("f", 2, 3)]),
    ],
)
def test_functions_are_found_with_their_lines(text, functions):
    assert found(text) == functions

#!/usr/bin/env python3
"""Writes the bindings of the C and the Zig SDK from the contract.

    guest-sdk/c/generate.py            writes bindings.h, tests/layout.c and ../zig/bindings.zig
    guest-sdk/c/generate.py --check    fails if one of them is out of date

Sizes and offsets are computed here from the rules of the canonical ABI and asserted in
the generated code, so that both compilers confirm them.
"""

import pathlib
import sys

sys.dont_write_bytecode = True

from bindgen import abi, c, wit, zig  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
WIT = HERE.parent.parent / "wit" / "hook.wit"


def main():
    reader = wit.Reader(WIT.read_text()).read()
    types = abi.in_memory(reader.functions)
    files = {
        HERE / "bindings.h": c.write_c(reader, types),
        HERE / "tests" / "layout.c": c.write_layout(types),
        HERE.parent / "zig" / "bindings.zig": zig.write_zig(reader, types),
    }
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        if stale:
            sys.exit(f"out of date: {', '.join(map(str, stale))}; run {pathlib.Path(__file__).name}")
        return
    for path in stale:
        path.write_text(files[path])


if __name__ == "__main__":
    main()

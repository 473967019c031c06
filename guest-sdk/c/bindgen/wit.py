"""Reads as much of WIT as the contract needs, and stops at anything else."""

import re
import sys
from dataclasses import dataclass, field

PRIMITIVES = ("bool", "u8", "u16", "u32", "s64", "u64", "f64")


@dataclass
class Type:
    """A type: a primitive, `string`, or one made of others."""

    kind: str
    name: str = ""
    parts: list = field(default_factory=list)  # (label, Type or None)


@dataclass
class Function:
    interface: str
    name: str
    params: list
    result: Type | None


class Reader:
    """Reads WIT text into types and functions."""

    def __init__(self, text):
        text = re.sub(r"//[^\n]*", "", text)
        self.tokens = re.findall(r"[a-zA-Z0-9_.\-]*[a-zA-Z0-9_]|->|[^\s]", text)
        self.at = 0
        self.types = {}
        self.functions = []
        self.interface = ""
        self.package = ""

    def take(self, wanted=None):
        token = self.tokens[self.at]
        if wanted is not None and token != wanted:
            near = " ".join(self.tokens[max(0, self.at - 5) : self.at + 5])
            sys.exit(f"the contract: expected {wanted!r} and found {token!r} near: {near}")
        self.at += 1
        return token

    def accept(self, token):
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def skip_to(self, token):
        while self.take() != token:
            pass

    def read(self):
        self.take("package")
        namespace = self.take()
        self.take(":")
        name = self.take()
        self.take("@")
        self.package = f"{namespace}:{name}", self.take()
        self.take(";")
        while self.at < len(self.tokens):
            if self.accept("@"):
                self.skip_to(")")
            elif self.accept("interface"):
                self.read_interface()
            else:
                self.take("world")
                self.skip_to("}")
        return self

    def read_interface(self):
        self.interface = self.take()
        self.take("{")
        while not self.accept("}"):
            word = self.take()
            if word == "use":
                self.read_use()
            elif word == "type":
                name = self.take()
                self.take("=")
                self.types[self.interface, name] = self.read_type()
                self.take(";")
            elif word in ("record", "variant", "enum"):
                self.read_definition(word)
            else:
                self.read_function(word)

    def read_use(self):
        source = self.take()
        self.take(".")
        self.take("{")
        while not self.accept("}"):
            name = self.take()
            self.types[self.interface, name] = self.types[source, name]
            self.accept(",")
        self.take(";")

    def read_definition(self, kind):
        name = self.take()
        parts = []
        self.take("{")
        while not self.accept("}"):
            label = self.take()
            part = None
            if kind == "record":
                self.take(":")
                part = self.read_type()
            elif self.accept("("):
                part = self.read_type()
                self.take(")")
            parts.append((label, part))
            self.accept(",")
        prefix = "" if self.interface == "types" else f"{self.interface}_"
        self.types[self.interface, name] = Type(kind, prefix + snake(name), parts)

    def read_function(self, name):
        for wanted in (":", "func", "("):
            self.take(wanted)
        params = []
        while not self.accept(")"):
            label = self.take()
            self.take(":")
            params.append((label, self.read_type()))
            self.accept(",")
        result = self.read_type() if self.accept("->") else None
        self.take(";")
        self.functions.append(Function(self.interface, name, params, result))

    def read_type(self):
        name = self.take()
        if name == "_":
            return None
        if name in PRIMITIVES or name == "string":
            return Type(name, name)
        if name in ("list", "option", "tuple", "result"):
            self.take("<")
            parts = []
            while not self.accept(">"):
                parts.append((f"f{len(parts)}", self.read_type()))
                self.accept(",")
            if name == "option":
                parts = [("none", None), ("some", parts[0][1])]
            elif name == "result":
                parts = [("ok", parts[0][1]), ("err", parts[1][1])]
            return Type(name, "_".join([name] + [part.name for _, part in parts if part]), parts)
        if (self.interface, name) not in self.types:
            sys.exit(f"the contract: unknown type {name!r} in interface {self.interface}")
        return self.types[self.interface, name]


def snake(name):
    return name.replace("-", "_")

"""Writes the bindings of the C and the Zig SDK."""

"""Blocks commands that talk to hosts nobody put on the list."""

import re

from hookbox import Decision, Event, allow, block, hook, log, metrics

ALLOWED = ["github.com", "gitlab.com", "wikipedia.org", "docs.rs"]

SCHEME = re.compile("https?://", re.ASCII | re.IGNORECASE)

# Where a path, a query or the shell ends the part with the host.
END = re.compile(r"[/?#'\"`;|&)>\s]")


@hook
def {{snake}}(event: Event) -> Decision:
    command = event.payload["args"].get("command", "")
    for scheme in SCHEME.finditer(command):
        authority = END.split(command[scheme.end() :], maxsplit=1)[0]
        host = host_of(authority)
        if not is_allowed(host):
            log.warn(f"blocked: {command}")
            metrics.incr("egress.blocked")
            return block(
                f"egress to {host or 'a URL without a host'} is not allowed;"
                f" allowed hosts: {', '.join(ALLOWED)}"
            )
    return allow()


def host_of(authority: str) -> str:
    """Returns the host in `user:password@host:port`."""
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    else:
        host = host.partition(":")[0]
    return host.lower().removesuffix(".")


def is_allowed(host: str) -> bool:
    """Says whether a host, or a domain it belongs to, is on the list."""
    return any(host == known or host.endswith("." + known) for known in ALLOWED)

import { allow, block, hook, log, metrics } from "hookbox";

// These hosts and everything below them.
const ALLOWED = ["github.com", "gitlab.com", "wikipedia.org", "docs.rs"];

// What follows `http://` or `https://`, up to the path or the end of the word.
const AUTHORITY = /(?<=https?:\/\/)[^/?#'"`;|&)>\s]*/gi;

export const handler = hook((event) => {
  const command = event.payload.args?.command ?? "";
  const hosts = (command.match(AUTHORITY) ?? []).map(hostOf);
  const host = hosts.find((host) => !isAllowed(host));
  if (host === undefined) return allow();

  log.warn(`blocked: ${command}`);
  metrics.incr("egress.blocked");
  const place = host === "" ? "a URL without a host" : host;
  return block(`egress to ${place} is not allowed; allowed hosts: ${ALLOWED.join(", ")}`);
});

/** Returns the host of an authority such as `user:password@host:443`. */
function hostOf(authority) {
  const place = authority.slice(authority.lastIndexOf("@") + 1).toLowerCase();
  const [host] = place.startsWith("[") ? place.slice(1).split("]") : place.split(":");
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

function isAllowed(host) {
  return ALLOWED.some((entry) => host === entry || host.endsWith(`.${entry}`));
}

export function now() {
  return 946_684_800_000n;
}

/** Throws as both engines do when the host returns an error of the contract. */
export function refuse(tag, val) {
  throw Object.assign(new Error("[object Object] (see error.payload)"), { payload: { tag, val } });
}

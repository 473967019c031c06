import * as host from "hookbox:hook/hooks@1.1.0";

import { callHost } from "./error.js";
import { needText } from "./text.js";

/** Returns all hooks of the project, in the order of registration. */
export function list() {
  return callHost("hooks.list", host.all).map((hook) => ({
    name: hook.name,
    event: hook.event,
    priority: Number(hook.priority),
    explicitPriority: hook.explicitPriority,
    when: hook.when ?? undefined,
    handler: hook.handler,
    file: hook.file,
  }));
}

/** Returns the text of the file a hook is written in, or undefined. */
export function source(name) {
  return callHost("hooks.source", host.source, needText(name, "hooks.source(name)")) ?? undefined;
}

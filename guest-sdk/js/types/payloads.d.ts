import type { JsonObject } from "./json.js";

/** What `tool.pre` carries. */
export interface ToolCall<Args = JsonObject> {
  /** The call's own id. */
  id: string;
  /** The tool's name. */
  name: string;
  /** The arguments. */
  args: Args;
  /** The arguments as the text the model wrote. */
  arguments: string;
}

/** What `tool.post` carries. */
export interface ToolResult {
  /** The id of the call. */
  call_id: string;
  /** The tool's name. */
  name: string;
  /** What the model reads. */
  content: string;
  /** Whether the tool failed. */
  is_error: boolean;
  /** What the tool returned. */
  result: any;
}

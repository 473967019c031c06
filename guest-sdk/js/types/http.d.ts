import type { Json } from "./json.js";

/** Headers, by name or as pairs. */
export type Headers = Record<string, string> | ReadonlyArray<readonly [string, string]>;

/** Text, bytes, or a value that is sent as JSON with the content type that belongs to it. */
export type Body = string | Uint8Array | ArrayBuffer | Json | object;

/** How a request is sent. */
export interface Options {
  headers?: Headers;
  /** How long to wait; the host's limit if left out. */
  timeoutMs?: number;
}

/** A request. */
export interface Request extends Options {
  /** "GET" if left out. */
  method?: string;
  url: string;
  body?: Body;
}

/** What a server answered. */
export class Response {
  private constructor();
  readonly status: number;
  /** The headers as they came, as pairs. */
  readonly headers: ReadonlyArray<readonly [string, string]>;
  readonly body: Uint8Array;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  /** Whether the status is a success: 200 to 299. */
  get ok(): boolean;
  /** Returns the first header of this name in any case, or undefined. */
  header(name: string): string | undefined;
  /** Returns the body as text. */
  text(): string;
  /** Returns the body as JSON; integers that a number cannot hold are BigInts. */
  json(): any;
}

/** Sends a GET request. */
export function get(url: string, options?: Options): Response;

/** Sends a POST request. */
export function post(url: string, body?: Body, options?: Options): Response;

/**
 * Sends a request and returns the response, whatever its status. Needs a grant:
 * `grant: http: ["GET https://api.example.com/v1/*"]`.
 *
 * Throws a `HookboxError` of the kind "not-granted", "invalid-request",
 * "timeout", "too-large" or "failed".
 */
export function send(request: Request): Response;

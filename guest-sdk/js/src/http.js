import "./globals.js";

import * as host from "hookbox:hook/http@1.1.0";

import { callHost } from "./error.js";
import { parse, stringify } from "./json.js";
import { maybe32 } from "./numbers.js";
import { needText } from "./text.js";

/** What a server answered. */
export class Response {
  constructor({ status, headers, body, url }) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.url = url;
  }

  /** Whether the status is a success. */
  get ok() {
    return this.status >= 200 && this.status < 300;
  }

  /** Returns the first header of this name in any case, or undefined. */
  header(name) {
    const wanted = name.toLowerCase();
    return this.headers.find(([key]) => key.toLowerCase() === wanted)?.[1];
  }

  /** Returns the body as text. */
  text() {
    return new TextDecoder().decode(this.body);
  }

  /** Returns the body as JSON, without loss of digits. */
  json() {
    return parse(this.text());
  }
}

/** Sends a GET request. */
export function get(url, options) {
  return send({ ...options, method: "GET", url });
}

/** Sends a POST request. */
export function post(url, body, options) {
  return send({ ...options, method: "POST", url, body });
}

/** Sends a request and returns the response, whatever its status. */
export function send({ method = "GET", url, headers = {}, body, timeoutMs }) {
  const pairs = headersOf(headers);
  const request = {
    method: needText(method, "the method of http.send(request)"),
    url: needText(String(url), "the url of http.send(request)"),
    headers: pairs,
    body: bodyOf(body, pairs),
    timeoutMs: maybe32(timeoutMs, "timeoutMs"),
  };
  return new Response(callHost("http.send", host.send, request));
}

function headersOf(headers) {
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers);
  return pairs.map(([name, value]) => [
    needText(name, "a header's name"),
    needText(String(value), "a header"),
  ]);
}

function bodyOf(body, headers) {
  if (body == null) return undefined;
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (!headers.some(([name]) => name.toLowerCase() === "content-type")) {
    headers.push(["content-type", "application/json"]);
  }
  return new TextEncoder().encode(stringify(body));
}

import { refuse } from "./error.js";

export const requests = [];

export function send(request) {
  requests.push(request);
  if (request.url.includes("forbidden")) refuse("not-granted", "no rule covers it");
  return {
    status: 200,
    headers: [["X-Answer", "42"]],
    body: new TextEncoder().encode('{"id":12345678901234567890,"name":"ü"}'),
    url: request.url,
  };
}

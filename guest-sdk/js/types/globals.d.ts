// What a hook finds beside the language itself. A project that does not load
// the types of the browser or of Node names this in its tsconfig.json:
// `"types": ["hookbox/globals"]`.

/** A console that writes to the hook's log. */
declare const console: {
  debug(...message: unknown[]): void;
  log(...message: unknown[]): void;
  info(...message: unknown[]): void;
  warn(...message: unknown[]): void;
  error(...message: unknown[]): void;
};

/** Turns text into UTF-8. */
declare class TextEncoder {
  get encoding(): string;
  encode(text?: string): Uint8Array;
}

/** Turns UTF-8 into text. */
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  get encoding(): string;
  get fatal(): boolean;
  get ignoreBOM(): boolean;
  decode(bytes?: ArrayBuffer | ArrayBufferView): string;
}

/** Reads base64 into a string of bytes. */
declare function atob(data: string): string;

/** Writes a string of bytes as base64. */
declare function btoa(data: string): string;

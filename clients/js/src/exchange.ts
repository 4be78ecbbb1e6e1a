/** One HTTP request and its response over a connection of its own, bounded in time and bytes. Libraries that mock the network replace
 * `fetch` and `node:http`, some of them as soon as they are imported, so that neither is used. */

import type { Socket } from "node:net";

import { after, connection } from "./machine.js";

const BODY_BYTES_MAX = 64 << 20;
const HEAD_BYTES_MAX = 64 << 10;

/** A request to send. */
export interface Sent {
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array | null;
  signal?: AbortSignal | null;
}

/** A response that is complete. */
export interface Answer {
  status: number;
  headers: [string, string][];
  bytes: Uint8Array;
}

/** There was no complete response; the message is the reason. */
export class Unanswered extends Error {}

/** Something answered, but not as HTTP has it, or with too much. */
export class Malformed extends Unanswered {}

/** Send a request and follow no redirect; the response may take `timeoutS` seconds in all, and its body have 64 MiB. Throws
 * `Unanswered`, and the reason of the signal that ends it. */
export async function exchange(url: URL, sent: Sent, timeoutS: number): Promise<Answer> {
  const request = encoded(url, sent);
  sent.signal?.throwIfAborted();
  let socket: Socket | undefined;
  const abort = (): void => void socket?.destroy(new Error("aborted"));
  let isLate = false;
  const cancel = after(timeoutS, () => ((isLate = true), abort()));
  sent.signal?.addEventListener("abort", abort, { once: true });
  try {
    socket = connection(url);
    socket.write(request);
    return await received(socket, sent.method === "HEAD");
  } catch (error) {
    sent.signal?.throwIfAborted();
    if (isLate) throw new Unanswered(`no complete answer came in ${timeoutS} s`, { cause: error });
    throw error instanceof Unanswered ? error : new Unanswered(reason(error as Error), { cause: error });
  } finally {
    cancel();
    sent.signal?.removeEventListener("abort", abort);
    socket?.on("error", () => undefined).destroy();
  }
}

function encoded({ host, pathname, search }: URL, { method, headers, body }: Sent): Buffer {
  const content = Buffer.from(body ?? "");
  const hasBody = content.length > 0 || !["GET", "HEAD"].includes(method);
  const length: Record<string, string> = hasBody ? { "Content-Length": `${content.length}` } : {};
  const fields = Object.entries({ Host: host, Connection: "close", Accept: "*/*", ...length, ...headers });
  const lines = [`${method} ${pathname}${search} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  const wrong = lines.find((line) => /[^\t\x20-\x7e\x80-\xff]/.test(line));
  if (wrong !== undefined) throw new TypeError(`${JSON.stringify(wrong)} cannot be sent as a line of HTTP`);
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), content]);
}

/** The response, which ends as its head says, or with the connection. */
async function received(socket: Socket, isHead: boolean): Promise<Answer> {
  let bytes: Buffer = Buffer.alloc(0);
  let head: Omit<Answer, "bytes"> | undefined;
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of socket as AsyncIterable<Buffer>) {
    if (head === undefined) {
      bytes = Buffer.concat([bytes, piece]);
      const end = bytes.indexOf("\r\n\r\n");
      if (!"HTTP/1.".startsWith(bytes.toString("latin1", 0, 7)) || (end < 0 && bytes.length > HEAD_BYTES_MAX)) throw new Malformed("it is not HTTP");
      if (end < 0) continue;
      head = headOf(bytes.toString("latin1", 0, end));
      bytes = bytes.subarray(end + 4);
    } else bytes = piece;
    pieces.push(bytes);
    size += bytes.length;
    if (size > BODY_BYTES_MAX) throw new Malformed(`the response has more than ${BODY_BYTES_MAX} bytes`);
    if (size >= (lengthOf(head, isHead) ?? Infinity)) break;
  }
  if (head === undefined) throw new Unanswered("the connection was closed without an answer");
  const body = Buffer.concat(pieces);
  const length = lengthOf(head, isHead);
  if (length !== undefined && size < length) throw new Unanswered(`the connection was closed after ${size} of ${length} bytes`);
  return { ...head, bytes: valueOf(head, "transfer-encoding") === undefined ? body.subarray(0, length) : unchunked(body) };
}

function headOf(text: string): Omit<Answer, "bytes"> {
  const [first = "", ...lines] = text.split("\r\n");
  const status = /^HTTP\/1\.[01] ([2-5]\d\d)( |$)/.exec(first)?.[1];
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Malformed("it has a header that is none");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  if (status === undefined) throw new Malformed("it is not HTTP");
  return { status: Number(status), headers };
}

const valueOf = ({ headers }: Omit<Answer, "bytes">, wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];

/** How many bytes the body has; undefined if its end says so. */
function lengthOf(head: Omit<Answer, "bytes">, isHead: boolean): number | undefined {
  if (isHead || head.status === 204 || head.status === 304) return 0;
  if (valueOf(head, "transfer-encoding") !== undefined) return undefined;
  const length = valueOf(head, "content-length");
  if (length === undefined) return undefined;
  if (!/^\d{1,15}$/.test(length)) throw new Malformed("its Content-Length is no number");
  return Number(length);
}

/** A body without the frames of its chunks. */
function unchunked(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf("\r\n", at);
    const [digits] = /^[0-9a-f]{1,8}(?=;|$)/i.exec(body.toString("latin1", at, Math.max(at, end))) ?? [];
    if (end < 0) throw new Unanswered("the connection was closed within the body");
    if (digits === undefined) throw new Malformed("it has a chunk that is none");
    const size = parseInt(digits, 16);
    if (size === 0) return Buffer.concat(pieces);
    if (body.length < end + 2 + size + 2) throw new Unanswered("the connection was closed within the body");
    pieces.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

/** Why there is no answer, with what to do about it. */
function reason(error: Error & { code?: string }): string {
  const said = error.message || error.code || error.name;
  if (/CERT|VERIFY_LEAF|ISSUER/.test(error.code ?? "")) return `${said}; name the file of its authority, or of itself, in NODE_EXTRA_CA_CERTS`;
  const library = /node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(error.stack ?? "")?.[1];
  const isCut = library !== undefined && library !== "reseller-sim";
  return isCut ? `${said}; ${library} keeps this process from the network: ${WAYS[library] ?? "let connections to 127.0.0.1 through"}` : said;
}

const WAYS: Record<string, string> = {
  mitm: `mitm.on("connect", (socket, { host }) => { if (host === "127.0.0.1") socket.bypass(); })`,
  nock: "nock.enableNetConnect(/^127\\.0\\.0\\.1/)",
};

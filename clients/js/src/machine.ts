/** The clocks, timers and network of this machine, which tests mock for the code that they test and not for this client. What is here
 * was found at import; a clock that was mocked before is passed by. Requests use neither `fetch` nor `node:http`, which libraries that
 * mock the network replace, some of them as soon as they are imported. */

import net from "node:net";
import tls from "node:tls";

const isMocked = !Function.prototype.toString.call(Date).includes("[native code]");
const { now: dateNow } = Date;
const { timeOrigin } = performance;
const signalAfter = AbortSignal.timeout.bind(AbortSignal); // whose timer is Node's own
const openSocket: (this: net.Socket, to: net.TcpSocketConnectOpts) => net.Socket = net.Socket.prototype.connect;
const { connect: secure } = tls;

/** Seconds of a clock that only goes forward, and that no library mocks. */
export const steadyS: () => number = process.uptime.bind(process);
/** Unix time in milliseconds. */
export const wallMs = (): number => (isMocked ? timeOrigin + steadyS() * 1000 : dateNow());

/** Call this after so many seconds, unless the result is called before. The timer does not keep the process. */
export function after(timeS: number, act: () => void): () => void {
  const signal = signalAfter(Math.ceil(timeS * 1000));
  signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
}

/** Wait so many seconds, or until the signal; it does not keep the process. */
export const sleep = (timeS: number, ended?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    after(timeS, resolve);
    ended?.addEventListener("abort", () => resolve(), { once: true });
  });

type HttpRequest = { method: string; headers: Record<string, string>; body?: string | Uint8Array | null };

/** A response that is complete. */
export type HttpResponse = { status: number; headers: [string, string][]; bytes: Uint8Array };

/** There was no complete response; the message is the reason. `foreign`: something answers that is no HTTP. `unusable`: a server may run, and
 * the message says what to do. */
export class Unanswered extends Error {
  constructor(message: string, cause?: unknown, readonly kind: "silent" | "foreign" | "unusable" = "silent") {
    super(message, { cause });
  }
}

/** Send a request over a connection of its own and follow no redirect; the response may take `timeoutS` seconds in all. Throws `Unanswered`. */
export async function exchange(url: URL, request: HttpRequest, timeoutS: number): Promise<HttpResponse> {
  const bytes = encoded(url, request);
  let socket: net.Socket | undefined;
  let isLate = false;
  const cancel = after(timeoutS, () => ((isLate = true), socket?.destroy(new Error("aborted"))));
  try {
    socket = connection(url);
    socket.write(bytes);
    return await received(socket, request.method === "HEAD");
  } catch (error) {
    if (error instanceof Unanswered && !isLate) throw error;
    throw isLate ? new Unanswered(`no complete answer came in ${timeoutS} s`, error) : explained(error as Error);
  } finally {
    cancel();
    socket?.on("error", () => undefined).destroy();
  }
}

/** A connection to the host of a URL, with TLS for https. */
function connection({ protocol, hostname, port }: URL): net.Socket {
  const host = bare(hostname);
  const socket = new net.Socket();
  openSocket.call(socket, { host, port: Number(port) || (protocol === "https:" ? 443 : 80) });
  if (protocol !== "https:") return socket;
  return secure({ socket, ...(net.isIP(host) === 0 && { servername: host }), host, ALPNProtocols: ["http/1.1"] });
}

/** An IPv6 address without its brackets. */
const bare = (hostname: string) => hostname.replace(/^\[|\]$/g, "");

function encoded({ host, pathname, search }: URL, { method, headers, body }: HttpRequest): Buffer {
  const content = Buffer.from(body ?? "");
  const hasBody = content.length > 0 || !["GET", "HEAD"].includes(method);
  const fields = { Host: host, Connection: "close", Accept: "*/*", ...(hasBody && { "Content-Length": `${content.length}` }), ...headers };
  const lines = [`${method} ${pathname}${search} HTTP/1.1`, ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), content]);
}

/** The response, which ends with the connection. A connection that is reset may have carried a whole one. */
async function received(socket: net.Socket, isHead: boolean): Promise<HttpResponse> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of socket as AsyncIterable<Buffer>) pieces.push(piece);
  } catch (error) {
    if ((error as { code?: string }).code !== "ECONNRESET" || pieces.length === 0) throw error;
  }
  if (pieces.length === 0) throw new Unanswered("the connection was closed without an answer");
  return decoded(Buffer.concat(pieces), isHead);
}

function decoded(bytes: Buffer, isHead: boolean): HttpResponse {
  const end = bytes.indexOf("\r\n\r\n");
  const [first = "", ...lines] = bytes.toString("latin1", 0, Math.max(end, 0)).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1]);
  if (!status) throw new Unanswered("it is not HTTP", undefined, "foreign");
  const headers = lines.map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
  const valueOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  const body = bytes.subarray(end + 4);
  if (!isHead && valueOf("transfer-encoding") !== undefined) return { status, headers, bytes: unchunked(body) };
  const length = isHead ? 0 : Number(valueOf("content-length") ?? body.length);
  if (body.length < length) throw new Unanswered(`the connection was closed after ${body.length} of ${length} bytes`);
  return { status, headers, bytes: body.subarray(0, length) };
}

/** A body without the frames of its chunks. */
function unchunked(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const start = body.indexOf("\r\n", at) + 2;
    const size = parseInt(body.toString("latin1", at, Math.max(at, start)), 16);
    if (size === 0) return Buffer.concat(pieces);
    at = start + size + 2;
    if (!(body.length >= at)) throw new Unanswered("the connection was closed within the body");
    pieces.push(body.subarray(start, start + size));
  }
}

/** Why there is no answer, with what to do about it. */
function explained(error: Error & { code?: string }): Unanswered {
  const { code = "" } = error;
  const text = error.message || code || error.name;
  const unusable = (message: string) => new Unanswered(message, error, "unusable");
  if (/wrong version number|packet length too long/.test(text)) return unusable("it does not speak https: begin its URL with http://");
  if (/CERT|VERIFY_LEAF|ISSUER/.test(code)) return unusable(`${text}; name the file of its authority, or of itself, in NODE_EXTRA_CA_CERTS`);
  return new Unanswered(text, error);
}

/** Both spellings of NO_PROXY with the host of a URL after all that either of them has. Programs read one of the two. `*`, which means
 * every host, is understood when it stands alone. */
export function proxyBypass({ NO_PROXY = "", no_proxy = "" }: NodeJS.ProcessEnv, url: string): { NO_PROXY: string; no_proxy: string } {
  const { hostname } = new URL(url);
  const hosts = `${NO_PROXY},${no_proxy},${bare(hostname)},${hostname}`.split(",").map((host) => host.trim());
  const value = hosts.includes("*") ? "*" : [...new Set(hosts)].filter(Boolean).join(",");
  return { NO_PROXY: value, no_proxy: value };
}

/** The end of a sentence about requests that did not arrive: which proxy variables are set. */
export function proxyHint(environment: NodeJS.ProcessEnv): string {
  const names = Object.keys(environment).filter((name) => /^(https?|all)_proxy$/i.test(name) && environment[name]).sort();
  return names.length === 0 ? "" : ` ${names.join(", ")} ${names.length === 1 ? "is" : "are"} set: does the HTTP client heed NO_PROXY?`;
}

/** The clocks, timers and network of this machine, which tests mock for the code that they test and not for this client. What is here
 * was found at import; a clock that was mocked before is passed by. */

import net from "node:net";
import tls from "node:tls";

const isMocked = !Function.prototype.toString.call(Date).includes("[native code]");
const { now: dateNow } = Date;
const { timeOrigin } = performance;
const uptimeS = process.uptime.bind(process); // which no library mocks
const signalAfter = AbortSignal.timeout.bind(AbortSignal); // whose timer is Node's own
const openSocket: (this: net.Socket, to: net.TcpSocketConnectOpts) => net.Socket = net.Socket.prototype.connect;
const { connect: secure } = tls;

/** Unix time in milliseconds. */
export const wallMs = (): number => (isMocked ? timeOrigin + uptimeS() * 1000 : dateNow());

/** Seconds of a clock that only goes on. */
export const steadyS = (): number => uptimeS();

/** Call this after so many seconds, unless the result is called before. The timer does not keep the process. */
export function after(timeS: number, act: () => void): () => void {
  const signal = signalAfter(Math.ceil(timeS * 1000));
  signal.addEventListener("abort", act, { once: true });
  return () => signal.removeEventListener("abort", act);
}

/** Wait so many seconds, or until the signal; it does not keep the process. */
export function sleep(timeS: number, ended?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(timeS, resolve);
    ended?.addEventListener("abort", () => (cancel(), resolve()), { once: true });
  });
}

/** What this is, if it comes in so many seconds; otherwise undefined. */
export async function within<T>(timeS: number, awaited: Promise<T>): Promise<T | undefined> {
  let cancel = (): void => undefined;
  const late = new Promise<undefined>((resolve) => (cancel = after(timeS, () => resolve(undefined))));
  return Promise.race([awaited, late]).finally(cancel);
}

/** A connection to the host of a URL, with TLS for https. */
export function connection({ protocol, hostname, port }: URL): net.Socket {
  const host = hostname.replace(/^\[|\]$/g, "");
  const isSecure = protocol === "https:";
  const socket = new net.Socket();
  openSocket.call(socket, { host, port: Number(port) || (isSecure ? 443 : 80) });
  if (!isSecure) return socket;
  return secure({ socket, ...(net.isIP(host) === 0 && { servername: host }), host, ALPNProtocols: ["http/1.1"] });
}

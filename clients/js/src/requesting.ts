/** Which requests can be made: a method and a path that arrive as they are written, and a port that `fetch` reaches. */

import { inspected } from "./printable.js";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Throws a RangeError for a method that the control API has not, and for a path that a URL would change: `/a/..` is `/`. */
export function checkRequest(method: string, path: string): void {
  if (!METHODS.includes(method)) throw new RangeError(`${inspected(method)} is no method of the control API: give ${METHODS.join(", ")}`);
  const [named = ""] = path.split(/[?#]/);
  if (!/^($|\/)/.test(named)) throw new RangeError(`${inspected(path)} is no path of the control API: begin it with /`);
  const parts = named.replace(/[\t\r\n]/g, "").split(/[/\\]/).slice(1); // as a URL is read
  const odd = parts.find((part) => /^(\.|%2e){0,2}$/i.test(part));
  if (odd === undefined) return;
  throw new RangeError(`${inspected(path)} is no path of the control API: its part ${inspected(odd)} would lead elsewhere, so give a name`);
}

/** Throws a RangeError for a path of the reseller API that would not arrive as it is written: `fetch` escapes, cuts and
 * resolves without a word, and then something else is signed and sent. */
export function checkTarget(path: string): void {
  if (typeof path !== "string" || !path.startsWith("/")) {
    throw new RangeError(`${inspected(path)} is no path of the reseller API: begin it with /, as in /v2/balance`);
  }
  const { pathname, search } = new URL(`http://sandbox${path}`);
  if (path.split("?", 1)[0] === pathname && !/[\p{Cc}#]/u.test(path)) return; // blanks of a query are escaped, then signed
  const arrives = `${pathname}${search}`;
  throw new RangeError(`${inspected(path)} would not arrive as it is written, but as ${inspected(arrives)}: write it as it is sent, percent-encoded`);
}

/** What to say of an address at whose port browsers, and `fetch` with them, do not ask. */
export function badPort(url: string): string {
  const others = "such as 1, 22, 25, 6000, 6665 to 6669 or 10080";
  return `fetch asks nobody at the port ${new URL(url).port}, since browsers leave those of other protocols alone, ${others}; choose another for the simulator`;
}

/** The signature of webhooks, as Standard Webhooks describes it. Callbacks of payments have none. */

import { createHmac, timingSafeEqual } from "node:crypto";

import { checkArguments, guard } from "./arguments.js";
import { wallMs } from "./machine.js";
import { FUNCTIONS, VERDICT } from "./parameters.js";

const TOLERANCE_S = 300;
const HEADERS = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

/** Of a message without one, and of one that was not judged yet. */
export const UNSIGNED = "it has no header webhook-signature, as transaction callbacks have none";
export const UNCHECKED = "no secret was given; name it with verify(secret)";

/** Headers of a received request: `Headers`, or an object of them. */
export type ReceivedHeaders = Headers | Record<string, string | readonly string[] | undefined>;

/** Whether a signature is right, and if not why. */
export class Verdict {
  constructor(
    readonly verified: boolean,
    /** Empty when it is right. */
    readonly reason: string,
  ) {
    checkArguments("new Verdict", arguments, VERDICT.constructor);
  }

  toString(): string {
    return this.verified ? "verified" : `not verified: ${this.reason}`;
  }
}

guard(Verdict, "verdict", VERDICT);

/** True if a webhook is genuine: see `judgeWebhook`, which says why not. */
export function verifyWebhook(secret: string, headers: ReceivedHeaders, body: string | Uint8Array, now?: string | Date): boolean {
  checkArguments("verifyWebhook", arguments, FUNCTIONS.verifyWebhook);
  return judged(secret, headers, body, now).verified;
}

/**
 * Whether a webhook was signed with this secret, of 64 hexadecimal digits, less than five minutes from `now`. `body` has the bytes
 * as they came. Signatures are compared in constant time. A RangeError for a secret that is not hexadecimal.
 */
export function judgeWebhook(secret: string, headers: ReceivedHeaders, body: string | Uint8Array, now?: string | Date): Verdict {
  checkArguments("judgeWebhook", arguments, FUNCTIONS.judgeWebhook);
  return judged(secret, headers, body, now);
}

function judged(secret: string, headers: ReceivedHeaders, body: string | Uint8Array, now: string | Date = new Date(wallMs())): Verdict {
  const key = Buffer.from(secret, "hex");
  const all = Symbol.iterator in headers ? [...(headers as Headers)] : Object.entries(headers);
  const found = new Map(all.map(([name, value]) => [name.toLowerCase(), `${value ?? ""}`]));
  const missing = HEADERS.filter((name) => !found.get(name));
  if (missing.length > 0) return wrong(`it has no ${missing.join(", ")}`);
  const [id, timestamp, signatures] = HEADERS.map((name) => found.get(name)) as [string, string, string];
  if (!/^\d+$/.test(timestamp)) return wrong(`webhook-timestamp is not Unix seconds: '${timestamp}'`);
  const mac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  const isGenuine = signatures
    .split(" ")
    .filter((signature) => signature.startsWith("v1,"))
    .map((signature) => Buffer.from(signature.slice("v1,".length), "base64"))
    .some((signature) => signature.length === mac.length && timingSafeEqual(signature, mac));
  if (!isGenuine) return wrong("the signature is not that of this id, timestamp, body and secret");
  const ageS = new Date(now).getTime() / 1000 - Number(timestamp);
  if (Math.abs(ageS) <= TOLERANCE_S) return new Verdict(true, "");
  return wrong(`webhook-timestamp is ${Math.abs(ageS).toFixed(0)} s ${ageS > 0 ? "old" : "ahead"}; 300 are allowed`);
}

function wrong(reason: string): Verdict {
  return new Verdict(false, reason);
}

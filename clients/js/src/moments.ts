/** Moments of a sandbox, as the control API takes them. */

import { iso } from "./time.js";
import type { Moment } from "./wanted.js";

export type { ForkFrom, Moment } from "./wanted.js";

/** One that was asked for, or none: the present. */
export function sentMoment(moment: Moment | object): object {
  return "to" in moment ? { ...moment, to: iso(moment.to as string | Date) } : moment;
}

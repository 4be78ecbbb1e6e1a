// Addresses that several views lead to: a rule, or the accounts of a magic one; the payments that a filter finds.

import { here, place } from "./router.js";

const MAGIC = /^magic-\d?(\d\d)$/;

/** The last two digits of the accounts that the rule is for; empty for a rule of the scenario. @param {string} name */
export const magicDigits = (name) => MAGIC.exec(name)?.[1] ?? "";

/** The address that shows the rule marked. @param {string} name */
export const ruleAddress = (name) =>
	magicDigits(name) ? here(["catalog"], { show: "magic", at: name }) : here(["rules"], { at: name });

/** The address of the payments with this value, of the reseller that is chosen. @param {string} word of the filter @param {string} value */
export function paymentsAddress(word, value) {
	const chosen = place.query.get("reseller");
	const words = [`${word}:${quoted(value)}`, chosen && `reseller:${quoted(chosen)}`];
	return here(["payments"], { q: words.filter(Boolean).join(" ") });
}

/** @param {string} value */
const quoted = (value) => (/\s/.test(value) ? `"${value}"` : value);

// Changes of a running sandbox that several views offer.

import { act } from "./action-log.js";
import { query } from "./api.js";
import { sum } from "./format.js";
import { sandboxPath } from "./router.js";

/** @param {string} reseller @param {Record<string, string>} values of a form: amount, description, type */
export function deposit(reseller, { amount, description = "", type = "DEPOSIT" }) {
	const words = ["deposit", amount.trim(), "--reseller", reseller];
	if (description) words.push("--description", description);
	return act({
		method: "POST",
		path: sandboxPath("resellers", reseller, "deposits"),
		body: { amount: amount.trim(), ...(description && { description }), ...(type !== "DEPOSIT" && { type }) },
		cli: type === "DEPOSIT" ? words : undefined,
		says: (entry) => `deposited ${sum(entry.amount)} for ${reseller}, balance ${sum(entry.balance)}`,
	});
}

/** @param {string} code of a product @param {string} status */
export const setNetwork = (code, status) =>
	act({
		method: "PUT",
		path: sandboxPath("network", code),
		body: { status },
		cli: ["network", code, status === "Healthy" ? "on" : "off"],
		says: `the network of ${code} is ${status}`,
	});

/** @param {string} code @param {any} body @param {string} says @param {string} [reseller] whose overlay it is, empty for everybody */
export function changeProduct(code, body, says, reseller = "") {
	const isSwitch = Object.keys(body).join() === "is_active" && body.is_active !== null;
	const change = isSwitch ? (body.is_active ? "on" : "off") : JSON.stringify(body);
	return act({
		method: "PATCH",
		path: sandboxPath("catalog", "products", code) + query({ reseller }),
		body,
		cli: ["product", code, change, ...(reseller ? ["--reseller", reseller] : [])],
		says: `${code}${reseller && ` of ${reseller}`} is ${says}`,
	});
}

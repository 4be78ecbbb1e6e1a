// Forms that cause events as the service causes them, and that send probes to receivers.

import { form } from "./form.js";
import { whatIsDue } from "./clock-actions.js";
import { visible } from "./safe-text.js";
import { sandboxPath } from "./router.js";
import { act } from "./action-log.js";

/** @param {string[]} codes @returns {Field} */
const resellerField = (codes) => ({ name: "reseller", label: "reseller", options: codes });

/**
 * @param {string[]} codes of resellers @param {() => Promise<any>} configured the answer of `GET …/resellers` @param {() => Promise<void>} then
 * @returns {HTMLElement[]}
 */
export function triggerForms(codes, configured, then) {
	const deposit = form({
		label: "Trigger balance.added",
		submit: "trigger balance.added",
		fields: [resellerField(codes), { name: "amount", label: "deposit, MYR", value: "10", size: 8 }],
		run: async ({ reseller, amount }) => {
			const found = (await configured()).resellers.find((/** @type {any} */ one) => one.code === reseller);
			if (found && !found.webhooks.some((/** @type {any} */ one) => one.enabled))
				throw new Error(
					`nothing is done, since ${visible(reseller)} has no balance webhook that is enabled: PUT /v2/balance-webhook sets one`,
				);
			await act({
				method: "POST",
				path: sandboxPath("resellers", reseller, "deposits"),
				body: { amount: amount.trim() },
				after: whatIsDue(),
				cli: ["trigger", "balance.added", "--amount", amount.trim(), "--reseller", reseller],
				says: `balance.added of ${visible(reseller)} triggered`,
			});
			await then();
		},
	});
	const product = form({
		label: "Trigger product.updated",
		submit: "trigger product.updated",
		fields: [{ name: "code", label: "product", required: true, size: 12 }],
		run: async ({ code }) => {
			await act({
				method: "PATCH",
				path: sandboxPath("catalog", "products", code.trim()),
				body: { note: `changed by the console ${Date.now().toString(36)}` },
				after: whatIsDue(),
				cli: ["trigger", "product.updated", code.trim()],
				says: `product.updated of ${visible(code.trim())} triggered`,
			});
			await then();
			if (!(await configured()).catalog_webhook?.enabled)
				throw new Error(
					`${visible(code.trim())} is changed, but no webhook is sent: the scenario has no \`webhooks: {catalog: {url: …}}\``,
				);
		},
	});
	return [deposit, product];
}

/** @param {string[]} codes @param {(answer: any) => void} then gets the verdicts */
export const probeForm = (codes, then) =>
	form({
		label: "Send probes",
		submit: "send probes",
		main: true,
		fields: [
			resellerField(codes),
			{ name: "timeout", label: "time-out, s", size: 6, hint: "empty: that of deliveries" },
		],
		run: async ({ reseller, timeout }) => {
			const limit = timeout.trim();
			await act({
				method: "POST",
				path: sandboxPath("probes"),
				body: { reseller, ...(limit && { timeout: Number.isFinite(Number(limit)) ? Number(limit) : limit }) },
				cli: limit ? undefined : ["trigger", "probes", "--reseller", reseller],
				says: (answer) => {
					then(answer);
					return `probes sent, ${answer.findings} found something`;
				},
			});
		},
	});

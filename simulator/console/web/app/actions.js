// Actions of the selected row: copy it as curl, send it again, explain it, go to its payment.

import { getText, path, ROOT } from "./api.js";
import { quoted } from "./commands.js";
import { whatIsDue } from "./clock-actions.js";
import { go, here, sandboxPath, place } from "./router.js";
import { act, copy } from "./action-log.js";
import { thingId } from "./timeline-items.js";

/** @param {Row} row @param {() => Promise<More>} more what else is known, once it is read @param {() => void} why @returns {Action[]} */
export function actionsOf(row, more, why) {
	const { kind, event, trxid } = row;
	const isMessage = kind === "callback" || kind === "webhook";
	/** @type {(Action | false)[]} */
	const all = [
		kind === "request" && { name: "copy as curl", key: "c", run: () => copyRequest(event.n) },
		isMessage && { name: "copy as curl", key: "c", run: async () => copySent((await more()).sent) },
		kind === "request" && { name: "replay", key: "r", run: () => replayRequest(event.n) },
		Boolean(kind === "callback" && trxid) && {
			name: "send the callback again",
			key: "r",
			run: () => sendCallback({ ...row, reseller: event.reseller }),
		},
		kind === "webhook" && { name: "replay", key: "r", run: () => replayWebhook(event) },
		kind !== "action" && kind !== "gap" && { name: "why?", key: "w", run: why },
		Boolean(trxid && place.rest[0] !== trxid) && {
			name: "its payment's story",
			key: "Enter",
			run: () => go(here(["payments", trxid], { at: thingId(event) })),
		},
		Boolean(row.refid) && { name: "copy the refid", key: "", run: () => copy(row.refid, `the refid ${row.refid}`) },
	];
	return all.filter((one) => one !== false);
}

/** @param {number} n */
async function copyRequest(n) {
	await copy(await getText(sandboxPath("requests", `${n}.curl`)), `request ${n} as curl`);
}

/** @param {any} sent */
async function copySent(sent) {
	if (!sent) throw new Error("the message of this attempt was evicted, so it cannot be copied");
	await copy(curlOf(sent), "the message as curl");
}

/** A message of the simulator as a command; an inbox is called at its own address. @param {any} sent */
function curlOf(sent) {
	const url = sent.url.replace(
		/^inbox:(.*)$/,
		(/** @type {string} */ _, /** @type {string} */ name) => new URL(path("inbox", place.sandbox, name), ROOT).href,
	);
	const headers = sent.headers.flatMap((/** @type {[string, string]} */ [name, value]) => ["-H", `${name}: ${value}`]);
	const body = sent.body ? ["--data-raw", sent.body] : [];
	return ["curl", "-X", sent.method, url, ...headers, ...body].map(quoted).join(" ");
}

/** @param {number} n */
async function replayRequest(n) {
	await act({
		method: "POST",
		path: sandboxPath("requests", n, "replay"),
		cli: ["requests", String(n), "--replay"],
		says: (made) => `request ${n} was sent once more: it is request ${made.n}, answered ${made.status}`,
	});
}

/** Send the callback of a payment's present status. @param {{ trxid: string, refid: string, reseller: string }} payment */
export async function sendCallback({ trxid, refid, reseller }) {
	await act({
		method: "POST",
		path: sandboxPath("transactions", trxid, "callbacks"),
		after: whatIsDue(),
		cli: ["trigger", "callback", refid, ...(reseller ? ["--reseller", reseller] : [])],
		says: (made) => `the callback ${made.payment_status} of ${refid} is sent once more`,
	});
}

/** @param {any} event */
async function replayWebhook(event) {
	await act({
		method: "POST",
		path: sandboxPath("deliveries", event.delivery, "replay"),
		says: (made) => `the webhook ${made.type} is sent once more, as ${made.id}`,
	});
}

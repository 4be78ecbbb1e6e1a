// The reason for a thing, in sentences: the rule or fault that decided it, what the client did wrong, which attempt came before.

import { h } from "./dom.js";
import { span } from "./format.js";
import { get } from "./api.js";
import { magicDigits, ruleAddress } from "./links.js";
import { past } from "./pieces.js";
import { short } from "./safe-text.js";
import { sandboxPath } from "./router.js";
import { ruleOf } from "./row-details.js";
import { table } from "./table.js";

const CAUSES = /** @type {Record<string, string>} */ ({
	creation: "This is the status in the answer to the request.",
	step: "This step of the payment's timeline, from its rule, was due.",
	void: "The payment was voided, and refunded.",
});

/** @param {Row} row @param {More} more @returns {Promise<Child[]>} */
export async function whyOf(row, more) {
	const reasons = REASONS[row.kind]?.(row, more) ?? [];
	const names = [row.event.fault, row.event.rule].filter(Boolean);
	const rules = await Promise.all(names.map((name) => ruled(name)));
	const all = [...reasons.map((text) => h("p", {}, short(text, 2000))), ...rules, autopsy(more.exchange?.autopsy)];
	return all.some(Boolean) ? all : [h("p", {}, "No rule and no fault decided it: this is the default behaviour.")];
}

/** @type {Record<string, (row: Row, more: More) => string[]>} */
const REASONS = {
	request: ({ event }) => [event.error && `It was refused as ${event.error}.`, event.diagnosis].filter(Boolean),
	status: ({ event }) => [CAUSES[event.cause] ?? `Its cause: ${event.cause}.`],
	callback: (row, more) => attempt(row, more, `the payment became ${row.event.status}`),
	webhook: (row, more) => attempt(row, more, `${row.event.type} happened`),
	entry: ({ event }) => [
		event.trxid ? "The payment took or returned this money." : "It belongs to no payment.",
		`It was posted as ${event.entry.type.toLowerCase()}.`,
	],
	notification: () => ["The service sends such e-mails; the simulator only stores them."],
	due: ({ event }) => [`It is scheduled: ${event.about}. It happens when the clock reaches its time.`],
	case: () => ["A request to the API caused it."],
};

/** Why this attempt. @param {Row} row @param {More} more @param {string} cause */
function attempt({ event, at }, { before }, cause) {
	const copy = event.copy ? `This is copy ${event.copy} of a callback, as its rule says.` : "";
	const first = `It is sent because ${cause}.`;
	if (!before) return [event.attempt > 1 ? "Earlier attempts were evicted." : first, copy, next(event)].filter(Boolean);
	const waited = span(Date.parse(at) - Date.parse(before.at));
	const ended = before.status ? `was answered ${before.status}` : `ended in: ${before.error || before.ending}`;
	return [`A retry, ${waited} after attempt ${before.number}, which ${ended}.`, copy, next(event)].filter(Boolean);
}

/** The consequence of an attempt. @param {any} event */
function next(event) {
	if (event.answered >= 200 && event.answered < 300) return "The receiver accepted it; no retry follows.";
	if (event.next_due) return "The receiver did not accept it; a retry follows.";
	if (!event.ending) return "It is in progress.";
	if (event.next_due === undefined) return "The event of this attempt was evicted, so a retry is not shown here.";
	return event.answered
		? `No retry follows the answer ${event.answered}: it is final, or all attempts are used up.`
		: "No retry follows.";
}

/** The rule with its counts and its text. @param {string} name */
async function ruled(name) {
	const link = h("a", { href: ruleAddress(name) }, short(name));
	const found = await ruleOf(name).catch(() => null);
	if (!found && magicDigits(name)) return magical(link, magicDigits(name));
	if (!found) return h("p", {}, "decided by ", link, ", which the sandbox no longer has");
	const said = `, of the section ${found.section}; its condition matched ${found.matched} and it decided ${found.chosen}`;
	return h("div", {}, h("p", {}, "decided by the rule ", link, said), found.yaml && h("pre", {}, found.yaml));
}

/** The magic account that chose how the payment ends. @param {HTMLElement} link @param {string} digits */
async function magical(link, digits) {
	const { outcomes } = await get(sandboxPath("magic")).catch(() => ({ outcomes: [] }));
	const ending = outcomes.find((/** @type {any} */ one) => one.digits === digits)?.outcome;
	const meaning = ending && `, which stands for: ${ending}`;
	return h("p", {}, "decided by the account, ", link, `: one that ends in ${digits}`, meaning);
}

const PARTS = ["timestamp", "nonce", "method", "query", "body_hash"];

/** The autopsy of a refused signature: what should have been signed, and where it differs. @param {any} found */
export function autopsy(found) {
	if (!found || found.is_right) return null;
	const { expected, nearest, sentence, fix } = found;
	const text = (/** @type {string} */ title, /** @type {string} */ label, /** @type {string} */ signed) => [
		past(title),
		h("pre", { tabindex: "0", "aria-label": label }, marked(signed, nearest?.at)),
	];
	return h(
		"section",
		{ "aria-label": "autopsy of the signature" },
		h("h3", {}, "The signature"),
		h("p", {}, short(sentence, 1000)),
		fix && h("p", {}, "Do this: ", short(fix, 1000)),
		text("the string that should have been signed", "expected string", expected.canonical_string),
		nearest &&
			text("the string that was signed, as the mistake explains it", "signed string", nearest.canonical_string),
		table(
			"Its parts",
			{
				part: (one) => one,
				expected: (one) => h("code", {}, short(expected.parts[one], 500)),
				signed: (one) => {
					if (!nearest) return "not known";
					return nearest.differs.includes(one) ? h("strong", { class: "bad" }, "✕ differs") : "the same";
				},
			},
			PARTS,
		),
	);
}

/** @param {string} text @param {number | null | undefined} at where the two differ first @returns {Child[]} */
function marked(text, at) {
	if (at === null || at === undefined || at >= text.length) return [short(text, 5000)];
	return [short(text.slice(0, at), 5000), h("mark", { title: "first difference" }, short(text.slice(at), 5000))];
}

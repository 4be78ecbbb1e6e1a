// The magic accounts of the sandbox, at hand to copy.

import { h } from "../app/dom.js";
import { counted, span } from "../app/format.js";
import { short } from "../app/safe-text.js";
import { copy } from "../app/action-log.js";
import { table } from "../app/table.js";

/** @param {{ outcomes: { digits: string, outcome: string }[], durations: { digit: string, seconds: number }[] }} magic */
export function magicAccounts({ outcomes, durations }) {
	const account = (/** @type {string} */ digits) => `012000000${digits}`.slice(-10).replace(/^./, "0");
	const shown = table(
		"An account is magic when its last seven digits are 0000DOO",
		[
			{ name: "OO", cell: (one) => h("code", {}, one.digits) },
			{ name: "what happens", cell: (one) => short(one.outcome) },
			{
				name: "an account",
				cell: (one) =>
					h(
						"button",
						{
							class: "quiet copy",
							"aria-label": `Copy ${account(one.digits)}`,
							title: "copy",
							onclick: () => copy(account(one.digits), "the account"),
						},
						h("code", {}, account(one.digits)),
					),
			},
		],
		outcomes,
		"This scenario has no magic accounts.",
	);
	const spans = durations.map((one) => `${one.digit} ${span(one.seconds * 1000)}`).join(", ");
	return [
		h("summary", {}, `${counted(outcomes.length, "magic account")} at hand`),
		shown,
		spans && h("p", { class: "past" }, `D says how long it takes: 0 as usual, ${spans}.`),
	];
}

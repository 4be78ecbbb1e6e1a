// Ready rules, each with its section and effect.

/** @typedef {{ name: string, section: string, rule: Record<string, any> }} Preset */

const PAY = { method: "POST", path: "/v2/topup" };

/** @type {Preset[]} */
export const PRESETS = [
	{
		name: "answer lost after commit",
		section: "faults",
		rule: {
			name: "answer lost",
			when: { ...PAY, new: true },
			times: 1,
			then: { after_commit: true, disconnect: true },
		},
	},
	{
		name: "hung payment",
		section: "payments",
		rule: { name: "hung", times: 1, then: [{ status: "Accepted" }, { after: "2s", status: "Processing" }] },
	},
	{
		name: "callback dropped",
		section: "payments",
		rule: {
			name: "callback dropped",
			times: 1,
			then: [{ status: "Accepted" }, { after: "2s", status: "Processing" }, { after: "5s", status: "Succesful" }],
			callbacks: { drop: true },
		},
	},
	{ name: "slow", section: "faults", rule: { name: "slow", when: PAY, then: { after_commit: true, delay: "5s" } } },
	{ name: "504", section: "faults", rule: { name: "gateway gave up", when: PAY, times: 1, then: { status: 504 } } },
	{
		name: "declined 48",
		section: "payments",
		rule: {
			name: "declined",
			times: 1,
			then: [{ status: "Accepted" }, { after: "5s", status: "Failed", statusCode: 48, remarks: "HC" }],
		},
	},
];

export const SECTIONS = ["payments", "faults", "voids", "disputes", "bills"];

/** @param {string} section */
export const ruleOf = (section) => `${section.replace(/s$/, "")}_rule`;

/** The least that a rule of a section does. @type {Record<string, any>} */
const THEN = {
	payments: [{ status: "Accepted" }],
	faults: { status: 504 },
	voids: { status: "Success" },
	disputes: { status: "Failed" },
	bills: { error: "invalid_account" },
};

/** A rule that a form begins with. @param {string} section @returns {Record<string, any>} */
export const emptyRule = (section) => ({ name: undefined, when: undefined, then: structuredClone(THEN[section]) });

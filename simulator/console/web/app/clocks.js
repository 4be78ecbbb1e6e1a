// Clocks that a new sandbox may have, as the command line writes them.

/** @type {[string, string][]} */
export const CLOCKS = [
	["", "as the scenario says"],
	["manual", "manual"],
	["real", "real"],
	["x10", "10 times as fast"],
	["x60", "60 times as fast"],
	["x1000", "1000 times as fast"],
];

/** The mode for the control API. @param {string} clock */
export const clockOf = (clock) =>
	clock.startsWith("x") ? { mode: "xN", rate: Number(clock.slice(1)) } : { mode: clock };

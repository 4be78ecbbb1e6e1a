// The views: name in the address, title of the tab, and key after `g`. The element of a view is `sim-NAME`, in a module of that name.

/** @typedef {{ name: string, title: string, key: string }} View */

/** @type {View[]} of a sandbox, in the order of the tabs */
export const VIEWS = [
	{ name: "live", title: "Live", key: "l" },
	{ name: "payments", title: "Payments", key: "p" },
	{ name: "wallet", title: "Wallet", key: "w" },
	{ name: "rules", title: "Rules", key: "r" },
	{ name: "inbox", title: "Inbox", key: "i" },
	{ name: "webhooks", title: "Webhooks", key: "h" },
	{ name: "catalog", title: "Catalog", key: "c" },
	{ name: "coverage", title: "Coverage", key: "v" },
	{ name: "audit", title: "Audit", key: "a" },
	{ name: "sign", title: "Sign", key: "s" },
];

/** @type {View[]} of the whole server */
export const SERVER_VIEWS = [
	{ name: "sandboxes", title: "Sandboxes", key: "b" },
	{ name: "scenarios", title: "Scenarios", key: "y" },
];

/** The first one where none is named. @param {string} sandbox @param {string} name @returns {View | undefined} */
export function viewOf(sandbox, name) {
	const views = sandbox ? VIEWS : SERVER_VIEWS;
	return views.find((one) => one.name === (name || views[0].name));
}

/** Load the module of a view; the first is already loaded. @param {View} view */
export const load = (view) => import(`../elements/sim-${view.name}.js`);

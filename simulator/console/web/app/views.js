// The views: name in the address, title of the tab, key after `g`, its element, and its module.

/** @typedef {{ name: string, title: string, key: string, element: string }} View */

/** @type {View[]} of a sandbox, in the order of the tabs */
export const VIEWS = [
	{ name: "live", title: "Live", key: "l", element: "sim-live" },
	{ name: "payments", title: "Payments", key: "p", element: "sim-payments" },
	{ name: "wallet", title: "Wallet", key: "w", element: "sim-wallet" },
	{ name: "rules", title: "Rules", key: "r", element: "sim-rules" },
	{ name: "inbox", title: "Inbox", key: "i", element: "sim-inbox" },
	{ name: "webhooks", title: "Webhooks", key: "h", element: "sim-webhooks" },
	{ name: "catalog", title: "Catalog", key: "c", element: "sim-catalog" },
	{ name: "coverage", title: "Coverage", key: "v", element: "sim-coverage" },
	{ name: "audit", title: "Audit", key: "a", element: "sim-audit" },
	{ name: "sign", title: "Sign", key: "s", element: "sim-sign" },
];

/** @type {View[]} of the whole server */
export const SERVER_VIEWS = [
	{ name: "sandboxes", title: "Sandboxes", key: "b", element: "sim-sandboxes" },
	{ name: "scenarios", title: "Scenarios", key: "y", element: "sim-scenarios" },
];

/** The first one where none is named. @param {string} sandbox @param {string} name @returns {View | undefined} */
export function viewOf(sandbox, name) {
	const views = sandbox ? VIEWS : SERVER_VIEWS;
	return views.find((one) => one.name === (name || views[0].name));
}

/** Load the module of a view; the first is already loaded. @param {View} view */
export const load = (view) => import(`../elements/${view.element}.js`);

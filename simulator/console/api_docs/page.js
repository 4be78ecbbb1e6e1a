// The interactive page of the contracts: Swagger UI, whose "Try it out" signs with the key that is chosen above it.

import { signed } from "./sign.js";

/** Where the service begins: a proxy may have a path before it. This page is `_sim/docs` there. */
const ROOT = new URL("..", location.href);
const DOCUMENTS = { "reseller API": "openapi.json", "control API": "_sim/openapi.json" };
/** What draws the documents, when it is installed. @type {any} */
const SwaggerUIBundle = /** @type {any} */ (window).SwaggerUIBundle;
const TOKEN_PATHS = ["/v2/token", "/v2/token/refresh"];

/** @param {string} id @returns {any} a field of the form */
const field = (id) => document.getElementById(id);

/** @type {any[]} */
let sandboxes = [];

/** @param {string} text */
function say(text) {
	field("status").textContent = text;
}

/** @returns {Record<string, string>} */
function controlHeaders() {
	const token = field("token").value;
	return token ? { Authorization: `Bearer ${token}` } : {};
}

/** @param {string} id @param {[string, string][]} choices value and text of each */
function offer(id, choices) {
	field(id).replaceChildren(...choices.map(([value, text]) => new Option(text, value)));
}

async function loadSandboxes() {
	const answer = await fetch(new URL("_sim/sandboxes", ROOT), { headers: controlHeaders() });
	if (answer.status === 401) {
		field("token-field").hidden = false;
		say("Enter the control token to choose a sandbox, or type a key and its secret.");
		return;
	}
	const found = await answer.json();
	if (!answer.ok) throw new Error(found.message);
	sandboxes = found.sandboxes;
	offer(
		"sandbox",
		sandboxes.map((one) => [one.id, one.id]),
	);
	chooseSandbox();
	say("");
}

function chooseSandbox() {
	const chosen = sandboxes.find((one) => one.id === field("sandbox").value);
	const reseller = (chosen?.resellers ?? []).find((/** @type {any} */ each) => each.api_key);
	field("key").value = reseller?.api_key ?? "";
	field("secret").value = reseller?.api_secret ?? "";
}

/** Swagger UI calls this for each request, those for the document included. @param {any} request */
async function prepared(request) {
	const url = new URL(request.url, location.href);
	if (request.loadSpec) return request;
	const path = url.pathname.slice(ROOT.pathname.length - 1);
	if (path.startsWith("/_sim")) {
		Object.assign(request.headers, controlHeaders());
		return request;
	}
	const sandbox = field("sandbox").value;
	if (sandbox && sandbox !== "default" && !path.startsWith("/s/")) url.pathname = `${ROOT.pathname}s/${sandbox}${path}`;
	request.url = url.href;
	const key = field("key").value;
	if (key && !TOKEN_PATHS.includes(path.replace(/^\/s\/[^/]+/, "")) && !request.headers.Authorization) {
		const body = typeof request.body === "string" ? request.body : "";
		const headers = await signed({ key, secret: field("secret").value, method: request.method, url: url.href, body });
		Object.assign(request.headers, headers);
	}
	return request;
}

async function show() {
	const document_ = await (await fetch(new URL(field("document").value, ROOT))).json();
	document_.servers = [{ url: ROOT.href.replace(/\/$/, ""), description: "This server." }];
	// The headers are made here, so nobody needs to fill them in.
	delete document_.security;
	delete document_.components.securitySchemes;
	SwaggerUIBundle({
		dom_id: "#api",
		spec: document_,
		requestInterceptor: prepared,
		validatorUrl: null,
		docExpansion: "list",
	});
}

function start() {
	if (!SwaggerUIBundle) {
		field("without-assets").hidden = false;
		field("caller").remove();
		return;
	}
	offer(
		"document",
		Object.entries(DOCUMENTS).map(([text, path]) => [path, text]),
	);
	field("document").addEventListener("change", () => void show());
	field("sandbox").addEventListener("change", chooseSandbox);
	field("token").addEventListener("change", () => loadSandboxes().catch((error) => say(error.message)));
	field("caller").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
	loadSandboxes().catch((error) => say(error.message));
	void show();
}

start();

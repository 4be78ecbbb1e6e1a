// The existing scenarios, and an editor. Its text can be loaded into a new sandbox, or saved in the folder.

import "./sim-editor.js";
import { get, path, query } from "../app/api.js";
import { CLOCKS } from "../app/clocks.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { form } from "../app/form.js";
import { short } from "../app/safe-text.js";
import { address, go, leaving, place } from "../app/router.js";
import { act, copy } from "../app/action-log.js";
import { readSandboxes } from "../app/store.js";
import { download } from "../app/take-home.js";
import { confirmed } from "../app/confirm.js";

const KEEP_AFTER_MS = 200;
const NEW =
	"scenario: mine\nextends: default\nclock: manual\n\npayments:\n  - name: declined\n    when: { product: ELECTRIC }\n    then:\n      - { status: Accepted }\n      - { after: 5s, status: Failed, statusCode: 48, remarks: HC }\n";

class SimScenarios extends SimElement {
	start() {
		/** @type {{ name: string, description: string, source: string }[]} */
		this.all = [];
		/** The text as it was read, and the revision of its file. */
		this.original = "";
		this.revision = "";
		this.hasFolder = false;
		/** @type {string} */
		this.shown = "\0";
		this.mistake = h("p", { class: "mistake", role: "alert" });
		this.nav = h("nav", { class: "scenario-list", "aria-label": "Scenarios" });
		this.heading = h("h2");
		this.editor = /** @type {import("./sim-editor.js").SimEditor} */ (h("sim-editor"));
		this.editor.of = {
			label: "The scenario as YAML",
			words: () => ({ extends: (this.all ?? []).filter((one) => one.source === "bundled").map((one) => one.name) }),
		};
		this.main = h(
			"div",
			{ class: "scenario" },
			h("a", { class: "up", href: address("", ["scenarios"]) }, "← all scenarios"),
			this.heading,
			this.mistake,
			this.editor,
			this.below(),
		);
		put(this, this.nav, this.main);
		this.listen(this.editor, "sim-text", () => this.keep());
		this.listen(window, "beforeunload", (event) => this.isChanged() && event.preventDefault());
		leaving.ask = () => this.mayLeave();
		this.watch("place", () => this.read());
		this.list();
		this.read();
	}

	stop() {
		leaving.ask = null;
		clearTimeout(this.keeping);
	}

	below() {
		const make = form({
			label: "Load it into a new sandbox",
			submit: "Load into a new sandbox",
			main: true,
			fields: [
				{ name: "id", label: "Id", hint: "a new id when empty", size: 18 },
				{ name: "clock", label: "Clock", options: CLOCKS },
			],
			run: (values) => this.load(values),
		});
		const text = () => this.editor?.text ?? "";
		this.saving = h("div");
		return h(
			"div",
			{},
			h(
				"div",
				{ class: "tools" },
				h("button", { onclick: () => copy(text(), "the scenario") }, "copy"),
				h("button", { onclick: () => download(text(), this.fileName()) }, "download"),
				h("span", { class: "past" }, h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Space"), " completes."),
			),
			this.saving,
			make,
		);
	}

	async list() {
		try {
			for (let cursor = ""; this.all && cursor !== null;) {
				const page = await get(`scenarios${query({ limit: 500, cursor })}`);
				this.all.push(...page.scenarios);
				this.hasFolder = page.has_folder;
				cursor = page.has_more ? page.cursor : null;
			}
		} catch (failure) {
			say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
		}
		this.drawList();
		this.drawSaving();
	}

	/** The form that saves, on a server with a folder: under the name of the file, or a new one. */
	drawSaving() {
		const file = this.revision ? place.rest.join("/") : this.fileName();
		const saving = form({
			label: "Save it in the folder of --scenarios",
			submit: "Save",
			fields: [{ name: "file", label: "File", value: file, path: "name", required: true, size: 24 }],
			run: (values) => this.save(values.file),
		});
		put(/** @type {HTMLElement} */ (this.saving), this.hasFolder && saving);
	}

	drawList() {
		const of = (/** @type {string} */ source, /** @type {string} */ title) => {
			const found = (this.all ?? []).filter((one) => one.source === source);
			const items = found.map((one) => {
				const isCurrent = one.name === place.rest[0] && source === (place.query.get("source") ?? "bundled");
				const href = address("", ["scenarios", one.name], source === "folder" ? { source } : {});
				return h(
					"li",
					{},
					h(
						"a",
						{ href, "aria-current": isCurrent && "page" },
						h("b", {}, short(one.name)),
						h("small", { class: "past" }, short(one.description)),
					),
				);
			});
			return items.length ? [h("h3", {}, title), h("ul", {}, ...items)] : [];
		};
		put(
			/** @type {HTMLElement} */ (this.nav),
			h("a", { class: "new", href: address("", ["scenarios"], { new: "1" }) }, "+ a new one"),
			...of("folder", "In the folder of --scenarios"),
			...of("bundled", "Bundled"),
		);
	}

	/** Follow the address: the scenario that it names, or the draft that the browser kept with it. */
	async read() {
		if (place.view !== "scenarios") return;
		const [name, source, isNew] = [place.rest.join("/"), place.query.get("source") ?? "", place.query.get("new")];
		const line = Number(place.query.get("line"));
		const shown = JSON.stringify([name, source, isNew, line]);
		if (shown === this.shown || !this.editor) return;
		this.shown = shown;
		this.toggleAttribute("data-open", Boolean(name || isNew));
		this.drawList();
		say(/** @type {Node} */ (this.mistake), "");
		const draft = history.state?.draft;
		try {
			const found = name ? await get(path("scenarios", name) + query({ source })) : { text: NEW };
			if (shown !== this.shown) return;
			const { text } = found;
			this.revision = found.source === "folder" ? found.revision : "";
			this.original = text;
			this.editor.text = draft ?? text;
			if (line > 0) this.editor.goLine(line);
		} catch (failure) {
			say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
			this.original = "";
			this.revision = "";
			this.editor.text = draft ?? "";
		}
		this.drawTitle();
		this.drawSaving();
	}

	drawTitle() {
		const name = place.rest.join("/") || "a new scenario";
		put(
			/** @type {HTMLElement} */ (this.heading),
			short(name),
			this.isChanged() && h("span", { class: "past" }, " changed, not saved"),
		);
	}

	isChanged() {
		return Boolean(this.editor && this.editor.text !== this.original);
	}

	/** The browser keeps the draft with this address, so that reloading and going back find it. */
	keep() {
		this.drawTitle();
		clearTimeout(this.keeping);
		this.keeping = setTimeout(() => {
			const draft = this.isChanged() ? this.editor?.text : undefined;
			history.replaceState(draft === undefined ? null : { draft }, "");
		}, KEEP_AFTER_MS);
	}

	async mayLeave() {
		if (!this.isChanged()) return true;
		const text = "Your changes are not saved. Save, download or copy them first, or load them into a sandbox.";
		return confirmed({ title: "Leave the draft?", text, button: "Leave it" });
	}

	/** Save the text as a file; the server refuses to overwrite a file that changed meanwhile. @param {string} file */
	async save(file) {
		const text = this.editor?.text ?? "";
		const isSame = this.revision && file === place.rest.join("/");
		const saved = await act({
			method: "PUT",
			path: path("scenarios", file),
			body: isSame ? { text, revision: this.revision } : { text },
			says: `saved ${file}`,
		});
		this.original = text;
		this.revision = saved.revision;
		history.replaceState(null, "");
		this.all = [];
		await this.list();
		if (isSame) this.drawTitle();
		else go(address("", ["scenarios", file], { source: "folder" }));
	}

	/** The file that a download of this makes. */
	fileName() {
		return `${(place.rest.join("/") || "mine").replace(/\.ya?ml$/, "").replaceAll("/", "-")}.yaml`;
	}

	/** The scenario for the command line: by name, or where it was changed, the downloaded file. */
	words() {
		const name = place.rest.join("/");
		if (!name || this.isChanged()) return [this.fileName()];
		return place.query.get("source") ? ["--server-file", name] : [name];
	}

	/** @param {Record<string, string>} values */
	async load({ id, clock }) {
		const text = this.editor?.text ?? "";
		const cli = ["sandbox", "new", ...this.words()];
		if (id) cli.push("--id", id);
		if (clock) cli.push("--clock", clock);
		const made = await act({
			method: "POST",
			path: `sandboxes${query({ id, clock })}`,
			body: text,
			type: "application/yaml",
			cli,
			says: (answer) => `created sandbox ${answer.id}`,
		});
		await readSandboxes();
		leaving.ask = null;
		go(address(made.id, ["live"]));
	}
}

customElements.define("sim-scenarios", SimScenarios);

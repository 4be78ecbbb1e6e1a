// The existing scenarios, and an editor. Its text can be loaded into a new sandbox, or saved in the folder.

import "./sim-editor.js";
import { get, pages, path, query } from "../app/api.js";
import { CLOCKS } from "../app/clocks.js";
import { h, put } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { form } from "../app/form.js";
import { short } from "../app/safe-text.js";
import { address, go, leaving, place } from "../app/router.js";
import { act, copy } from "../app/action-log.js";
import { readSandboxes } from "../app/store.js";
import { download } from "../app/take-home.js";
import { confirmed } from "./dialogs.js";

const KEEP_AFTER_MS = 200;
const NEW =
	"scenario: mine\nextends: default\nclock: manual\n\npayments:\n  - name: declined\n    when: { product: ELECTRIC }\n    then:\n      - { status: Accepted }\n      - { after: 5s, status: Failed, statusCode: 48, remarks: HC }\n";

/** The name of the scenario that is open. */
const opened = () => place.rest.join("/");

class SimScenarios extends SimElement {
	/** @type {{ name: string, description: string, source: string }[]} */
	all = [];
	/** The text as it was read, and the revision of its file. */
	original = "";
	revision = "";
	hasFolder = false;
	shown = "\0";
	/** @type {ReturnType<typeof setTimeout> | undefined} */
	keeping;
	nav = h("nav", { class: "scenario-list", "aria-label": "Scenarios" });
	heading = h("h2");
	editor = h("sim-editor");
	/** All below the title; hidden when the scenario could not be read. */
	writing = h("div");
	saving = h("div");
	unlisted = h("p", { class: "mistake", role: "alert" });

	start() {
		this.editor.of = {
			label: "The scenario as YAML",
			words: () => ({ extends: this.all.filter((one) => one.source === "bundled").map((one) => one.name) }),
		};
		const up = h("a", { class: "up", href: address("", ["scenarios"]) }, "← all scenarios");
		put(this.writing, this.editor, ...this.below());
		put(this, this.nav, h("div", { class: "scenario" }, up, this.heading, this.mistake, this.writing));
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
		const tools = h(
			"div",
			{ class: "tools" },
			h("button", { onclick: () => copy(this.editor.text, "the scenario") }, "copy"),
			h("button", { onclick: () => download(this.editor.text, fileName()) }, "download"),
			h("span", { class: "past" }, h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Space"), " completes."),
		);
		return [tools, this.saving, make];
	}

	async list() {
		await this.attempt(async () => {
			for await (const page of pages("scenarios", { limit: 500 })) {
				this.all.push(...page.scenarios);
				this.hasFolder = page.has_folder;
			}
		}, this.unlisted);
		this.drawList();
		this.drawSaving();
	}

	/** The form that saves, on a server with a folder: under the name of the file, or a new one. */
	drawSaving() {
		const value = this.revision ? opened() : fileName();
		const saving = form({
			label: "Save it in the folder of --scenarios",
			submit: "Save",
			fields: [{ name: "file", label: "File", value, path: "name", required: true, size: 24 }],
			run: (values) => this.save(values.file),
		});
		put(this.saving, this.hasFolder && saving);
	}

	drawList() {
		const of = (/** @type {string} */ source, /** @type {string} */ title) => {
			const items = this.all.flatMap((one) => {
				if (one.source !== source) return [];
				const isCurrent = one.name === place.rest[0] && source === (place.query.get("source") ?? "bundled");
				const href = address("", ["scenarios", one.name], source === "folder" ? { source } : {});
				const text = [h("b", {}, short(one.name)), h("small", { class: "past" }, short(one.description))];
				return h("li", {}, h("a", { href, "aria-current": isCurrent && "page" }, ...text));
			});
			return items.length > 0 && [h("h3", {}, title), h("ul", {}, ...items)];
		};
		put(
			this.nav,
			h("a", { class: "new", href: address("", ["scenarios"], { new: "1" }) }, "+ new scenario"),
			of("folder", "In the folder of --scenarios"),
			of("bundled", "Bundled"),
			this.unlisted,
		);
	}

	/** Follow the address: the scenario that it names, or the draft that the browser kept with it. */
	async read() {
		if (place.view !== "scenarios") return;
		const [name, source, isNew] = [opened(), place.query.get("source") ?? "", place.query.get("new")];
		const line = Number(place.query.get("line"));
		const shown = JSON.stringify([name, source, isNew, line]);
		if (shown === this.shown) return;
		this.shown = shown;
		this.toggleAttribute("data-open", Boolean(name || isNew));
		this.drawList();
		const draft = history.state?.draft;
		const failure = await this.attempt(async () => {
			const found = name ? await get(path("scenarios", name) + query({ source })) : { text: NEW };
			if (shown !== this.shown) return;
			this.revision = found.source === "folder" ? found.revision : "";
			this.original = found.text;
			this.editor.text = draft ?? found.text;
			if (line > 0) this.editor.goLine(line);
		});
		if (failure) {
			this.original = this.revision = "";
			this.editor.text = draft ?? "";
		}
		this.writing.hidden = Boolean(failure) && !draft;
		this.drawTitle();
		this.drawSaving();
	}

	drawTitle() {
		const changed = this.isChanged() && h("span", { class: "past" }, " changed, not saved");
		put(this.heading, short(opened() || "a new scenario"), changed);
	}

	isChanged() {
		return this.editor.text !== this.original;
	}

	/** The browser keeps the draft with this address, so that reloading and going back find it. */
	keep() {
		this.drawTitle();
		clearTimeout(this.keeping);
		this.keeping = setTimeout(() => {
			history.replaceState(this.isChanged() ? { draft: this.editor.text } : null, "");
		}, KEEP_AFTER_MS);
	}

	async mayLeave() {
		if (!this.isChanged()) return true;
		const text = "Your changes are not saved. Save, download or copy them first, or load them into a sandbox.";
		return confirmed({ title: "Leave the draft?", text, button: "Leave it" });
	}

	/** Save the text as a file; the server refuses to overwrite a file that changed meanwhile. @param {string} file */
	async save(file) {
		const { text } = this.editor;
		const isSame = this.revision && file === opened();
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

	/** The scenario for the command line: by name, or where it was changed, the downloaded file. */
	words() {
		if (!opened() || this.isChanged()) return [fileName()];
		return place.query.get("source") ? ["--server-file", opened()] : [opened()];
	}

	/** @param {Record<string, string>} values */
	async load({ id, clock }) {
		const made = await act({
			method: "POST",
			path: `sandboxes${query({ id, clock })}`,
			body: this.editor.text,
			type: "application/yaml",
			cli: ["sandbox", "new", ...this.words(), ...(id ? ["--id", id] : []), ...(clock ? ["--clock", clock] : [])],
			says: (answer) => `created sandbox ${answer.id}`,
		});
		await readSandboxes();
		leaving.ask = null;
		go(address(made.id, ["live"]));
	}
}

/** The file that a download of this makes. */
const fileName = () => `${(opened() || "mine").replace(/\.ya?ml$/, "").replaceAll("/", "-")}.yaml`;

customElements.define("sim-scenarios", SimScenarios);

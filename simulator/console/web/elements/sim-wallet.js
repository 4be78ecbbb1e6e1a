// The wallets of a sandbox: figures or ledger, and a form that puts money in.

import "./sim-reseller.js";
import "./wallet-ledger.js";
import { chosenReseller, resellerCodes } from "./sim-reseller.js";
import { figuresOf } from "./wallet-figures.js";
import { get, path, query } from "../app/api.js";
import { h, put, say } from "../app/dom.js";
import { SimElement } from "../app/element.js";
import { form } from "../app/form.js";
import { sum } from "../app/format.js";
import { whenItMatters } from "../app/refresh-on-event.js";
import { visible } from "../app/safe-text.js";
import { redraw } from "../app/reading.js";
import { here, place } from "../app/router.js";
import { act } from "../app/action-log.js";
import { sandboxNow } from "../app/store.js";

const KINDS = new Set(["request", "status", "entry", "callback", "webhook"]);

class SimWallet extends SimElement {
	start() {
		/** @type {any} */
		this.figures = null;
		/** @type {string | null} */
		this.deposited = null;
		this.tabs = h("nav", { class: "parts", "aria-label": "Wallet" });
		this.deposit = h("div", {});
		this.mistake = h("p", { class: "mistake", role: "alert" });
		this.drawn = h("div", { class: "figures" });
		this.ledger = h("div", { class: "fill" });
		const tools = h("div", { class: "tools" }, this.tabs, h("sim-reseller"), h("span", { class: "gap" }), this.deposit);
		put(this, tools, this.mistake, this.drawn, this.ledger);
		this.watch(["place", "sandbox"], () => this.follow());
		this.watch("clock", () => this.drawn?.firstChild || this.draw()); // nothing is drawn before it is known
		const sizes = new ResizeObserver(() => this.draw());
		sizes.observe(this);
		this.ends.push(() => sizes.disconnect());
		this.follow();
		whenItMatters(
			this,
			(row) => KINDS.has(row.kind) || row.event.action === "reseller_added",
			() => this.read(),
		);
	}

	follow() {
		const isLedger = place.rest[0] === "ledger";
		const reseller = chosenReseller();
		const part = (/** @type {string} */ title, /** @type {string[]} */ parts, /** @type {boolean} */ isCurrent) =>
			h("a", { href: here(parts, { reseller }), "aria-current": isCurrent && "page" }, title);
		const parts = [part("Figures", ["wallet"], !isLedger), part("Ledger", ["wallet", "ledger"], isLedger)];
		put(/** @type {HTMLElement} */ (this.tabs), ...parts);
		this.toggleAttribute("data-ledger", isLedger);
		if (this.ledger && Boolean(this.ledger.firstChild) !== isLedger) put(this.ledger, isLedger && h("wallet-ledger"));
		this.offerDeposit();
		if (this.figures && this.figures.of !== reseller) this.read();
		else this.draw();
	}

	/** The form is recreated only for another wallet, and after the wallets are known: text that was
	 * written would be gone. */
	offerDeposit() {
		const [codes, chosen] = [resellerCodes(), chosenReseller()];
		const of = JSON.stringify([codes, chosen]);
		if (!codes.length || of === this.deposited || !this.deposit) return;
		this.deposited = of;
		/** @type {import("../app/form.js").Field[]} */
		const fields = [
			{ name: "amount", label: "deposit, MYR", size: 8 },
			{ name: "description", label: "description", size: 16 },
			{
				name: "type",
				label: "type",
				options: [
					["DEPOSIT", "deposit"],
					["COMMISSION", "commission"],
				],
			},
		];
		if (!chosen && codes.length > 1)
			fields.unshift({
				name: "to",
				label: "wallet of",
				options: codes.map((code) => /** @type {[string, string]} */ ([code, visible(code)])),
			});
		const made = form({
			label: "Put money into a wallet",
			submit: "deposit",
			fields,
			run: async (values) => {
				await deposit(chosen || values.to || codes[0], values);
				const first = /** @type {HTMLInputElement} */ (made.elements.namedItem("amount"));
				first.value = "";
			},
		});
		put(this.deposit, made);
	}

	async read() {
		const reseller = chosenReseller();
		try {
			const figures = await get(`${path("sandboxes", place.sandbox)}/figures${query({ reseller })}`);
			if (reseller !== chosenReseller()) return void this.read();
			say(/** @type {Node} */ (this.mistake), "");
			this.figures = { ...figures, of: reseller };
		} catch (failure) {
			this.figures = { of: reseller };
			say(/** @type {Node} */ (this.mistake), /** @type {Error} */ (failure).message);
		}
		this.draw();
	}

	draw() {
		const { drawn, figures } = this;
		if (!drawn) return;
		drawn.hidden = place.rest[0] === "ledger";
		if (drawn.hidden || !figures || !sandboxNow()) return;
		if (!figures.wallets) return put(drawn);
		const { scrollTop } = this;
		const made = figuresOf(figures, drawn.clientWidth);
		drawn.style.setProperty("--columns", String(made.columns));
		redraw(drawn, ...made.figures);
		this.scrollTop = scrollTop;
	}
}

/** @param {string} reseller @param {Record<string, string>} values */
async function deposit(reseller, { amount, description, type }) {
	const isPlain = type === "DEPOSIT";
	const words = [
		"deposit",
		amount.trim(),
		"--reseller",
		reseller,
		...(description ? ["--description", description] : []),
	];
	await act({
		method: "POST",
		path: path("sandboxes", place.sandbox, "resellers", reseller, "deposits"),
		body: { amount: amount.trim(), ...(description && { description }), ...(!isPlain && { type }) },
		cli: isPlain ? words : undefined,
		says: (entry) => `${reseller}: ${sum(entry.amount)} added, balance ${sum(entry.balance)}`,
	});
}

customElements.define("sim-wallet", SimWallet);

// The types that several modules of the console share.

type Child = Node | string | number | null | undefined | false | Child[];
/** Green, red, amber, grey; never without a mark or a word beside it. */
type Tone = "good" | "bad" | "wait" | "past";
/** `away`: no answer; `locked`: it waits for the control token; `gone`: no such sandbox. */
type Connection = "connecting" | "live" | "away" | "locked" | "gone";
type Lane = "request" | "status" | "wallet" | "callback" | "case" | "alert";

interface Sandbox {
	id: string;
	scenario: string;
	origin: { source: string; name: string } | null;
	seed: number;
	url: string;
	clock: any;
	resellers: any[];
}

/** An event as a line of the live list. */
interface Row {
	id: string;
	number: number;
	kind: string;
	at: string;
	wall: string;
	what: string;
	state: string;
	tone: Tone;
	refid: string;
	trxid: string;
	product: string;
	rule: string;
	text: string;
	refused: boolean;
	took: string;
	event: any;
}

/** What is read about a row when it is opened. */
interface More {
	exchange?: any;
	sent?: any;
	answer?: string;
	before?: any;
}

/** An item of a story, with its id in the address. `at` and `end` are milliseconds, equal for an instant. */
interface Thing {
	id: string;
	lane: Lane;
	at: number;
	end: number;
	label: string;
	mark: string;
	isDue: boolean;
	row: Row;
}

interface Story {
	payment: any;
	things: Thing[];
	start: number;
}

/** `key` as `KeyboardEvent.key` has it, or two with a blank between them. */
interface Key {
	key: string;
	does: string;
	group: string;
	run: (event: KeyboardEvent) => void;
}

/** An action of a row; what it throws is shown where it was asked. */
interface Action {
	name: string;
	key: string;
	run: () => Promise<void> | void;
}

/** A field of a form. `options` make it a choice: values, or values with texts; `path` is its name in a refusal. */
interface Field {
	name: string;
	label: string;
	value?: string;
	hint?: string;
	required?: boolean;
	options?: (string | [string, string])[];
	path?: string;
	size?: number;
}

/** What a cell of a table shows for an item. */
interface Cell<T> {
	(item: T): Child;
	isNumber?: boolean;
}

/** A column of a list: `name` where it is not the class, `width` in characters; without one it takes what is left. */
interface ListColumn {
	class: string;
	name?: string;
	width?: number;
	flex?: string;
	cell: (item: any) => Child;
}

/** The target of an advance: the request, and the words of `reseller-sim advance`. */
interface Until {
	body: { seconds?: number; to?: string; until?: string };
	cli: string[];
}

interface HTMLElementTagNameMap {
	"catalog-magic": import("./web/elements/catalog-magic.js").CatalogMagic;
	"catalog-product": import("./web/elements/catalog-product.js").CatalogProduct;
	"clock-panel": import("./web/elements/clock-panel.js").ClockPanel;
	"inbox-message": import("./web/elements/inbox-message.js").InboxMessage;
	"sim-detail": import("./web/elements/sim-detail.js").SimDetail;
	"sim-editor": import("./web/elements/sim-editor.js").SimEditor;
	"sim-holds": import("./web/elements/sim-holds.js").SimHolds;
	"sim-list": import("./web/elements/sim-list.js").SimList;
	"webhook-delivery": import("./web/elements/webhook-delivery.js").WebhookDelivery;
}

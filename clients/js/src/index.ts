/** Client of a running `reseller-sim`: sandboxes, time, failures, and what happened. */

export { ExpectationFailed, NotRunning, NotStarted, SimulatorError, WrongAnswer, type Problem } from "./errors.js";
export { evidence } from "./evidence.js";
export type { StartOptions } from "./launch.js";
export { Message, type CallbackData } from "./messages.js";
export { Received, Receiver, type Behaviour } from "./receiver.js";
export type * from "./records.js";
export { Sandbox } from "./sandbox.js";
export { hmacHeaders, type Signable } from "./signing.js";
export { Simulator, type SandboxOptions, type SimulatorOptions } from "./simulator.js";
export { Story } from "./story.js";
export { judgeWebhook, Verdict, verifyWebhook } from "./webhooks.js";

/** Client of a running `reseller-sim`: sandboxes, time, failures, and what happened. */

export { ExpectationFailed, NotRunning, NotStarted, SimulatorError, WrongAnswer, type Problem } from "./control.js";
export { evidence } from "./evidence.js";
export { Message, Received, Receiver, type Behaviour, type CallbackData } from "./receiver.js";
export type * from "./records.js";
export { Hold, Sandbox } from "./sandbox.js";
export { hmacHeaders, judgeWebhook, Verdict, verifyWebhook, type Signable } from "./signing.js";
export { Simulator, type SandboxOptions, type SimulatorOptions, type StartOptions } from "./simulator.js";
export { Story } from "./story.js";

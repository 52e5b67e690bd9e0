/** How a command says that something is not well. */

/** The command has said itself what is not well; only the exit code is left. */
export class NotWell extends Error {}

/** A sentence for the operator, without a stack. */
export class Refusal extends Error {}

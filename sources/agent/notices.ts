/** Texts that the program writes into a conversation. Other programs look for the first two: they never change. */
export const TOOL_CANCELLED = 'Tool execution cancelled by user.'
export const TURN_CANCELLED = 'Turn cancelled by user.'

export const TOOL_NOT_STOPPED =
  'Tool execution cancelled by user. The tool had not stopped when the turn ended, so what it did is not known.'
export const DENIED_APPROVAL = 'user denied approval for this tool call'
export const NOBODY_TO_APPROVE = 'this call needs approval and nobody can give it here'
export const DENIED_DESTRUCTIVE = 'user denied approval for this destructive tool call'

export const EMPTY_ANSWER = 'The model finished without a final response.'
export const EMPTY_ANSWER_STATUS = 'The model sent an empty final response; asking once more.'
export const EMPTY_ANSWER_NUDGE =
  'Your previous response contained no user-facing text. Answer the user now: say what you did or found, or go on with a tool call.'

export const ANSWER_CUT =
  "The answer was cut by the model's output limit before it was whole. Send a message to go on from here."
export const CONTEXT_RETRY_STATUS =
  'The request was too long for the model; trying again with less of the conversation.'

/** Told to the model when the arguments of a call cannot be read. */
export function brokenArguments(cause: string, { cut }: { cut: boolean }): string {
  const why = cut ? ' The answer was cut by the output limit; send less in one call.' : ''
  return `the arguments of this call are not a JSON object (${cause}), so nothing was run.${why} Send the call again with one complete JSON object.`
}

export function stepLimit(steps: number): string {
  return `The turn was stopped after ${steps} model ${steps === 1 ? 'call' : 'calls'}, the step limit. Send a message to go on from here.`
}

export function providerFailed(message: string): string {
  return `The model could not complete this turn: ${message}.`
}

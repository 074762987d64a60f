import type { ReasoningEffort } from './configFile.ts'
import type { Model, Reasoning } from './modelsFile.ts'

/** What a model does when nobody asked for an effort. Null metadata: nothing is known of the model. */
export function defaultEffort(model: Model | null): ReasoningEffort {
  if (!canReason(model)) return 'off'
  const { required, default_effort } = model.reasoning
  return required && default_effort === 'off' ? 'medium' : default_effort
}

/** The nearest effort that the model allows. */
export function clampEffort(effort: ReasoningEffort, model: Model | null): ReasoningEffort {
  if (!canReason(model)) return 'off'
  return model.reasoning.required && effort === 'off' ? defaultEffort(model) : effort
}

/** The effort behind this one when a person cycles through them. */
export function nextEffort(effort: ReasoningEffort, model: Model | null): ReasoningEffort {
  if (!canReason(model)) return 'off'
  const next = { off: 'low', low: 'medium', medium: 'high', high: 'off' } as const
  return next[effort] === 'off' && model.reasoning.required ? 'low' : next[effort]
}

/** What goes into a request; null when the model knows no effort and nothing is sent. */
export function requestReasoning(
  effort: ReasoningEffort,
  model: Model | null,
): {
  readonly format: Reasoning['request_format']
  readonly effort: 'none' | 'low' | 'medium' | 'high'
} | null {
  if (!canReason(model)) return null
  return { format: model.reasoning.request_format, effort: effort === 'off' ? 'none' : effort }
}

function canReason(model: Model | null): model is Model {
  return model?.reasoning.supported === true
}

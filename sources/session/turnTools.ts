import type { CallSettings } from '../agent/callSettings.ts'
import { familyOf } from '../conversation/library.ts'
import type { DisplacedFiles } from '../edits/displaced.ts'
import { makeEditSink } from '../edits/editSink.ts'
import type { Journal } from '../edits/journal.ts'
import type { Attribution } from '../edits/journalLine.ts'
import { observeTracked } from '../edits/observe.ts'
import { decideCall, isDestructiveCall, toolsFor } from '../tools/registry.ts'
import { type HoldWait, holdWhole } from '../workspace/hold.ts'
import type { AccessPolicy } from '../workspace/policy.ts'
import type { ChosenModel } from './chooseModel.ts'
import { livenessOf } from './deadTurns.ts'
import { newMessageId, type Place } from './place.ts'
import type { TurnLog } from './turnLog.ts'

export interface TurnToolsOptions {
  readonly place: Place
  readonly chosen: ChosenModel
  readonly policy: AccessPolicy
  readonly journal: Journal
  readonly displaced: DisplacedFiles
  readonly conversation: string
  readonly writer: string
  readonly turn: string
  readonly log: TurnLog
  readonly wait: HoldWait
}

/** The tools of a turn: what they may do, and what each call works with. */
export function makeTurnTools(
  options: TurnToolsOptions,
): Pick<CallSettings, 'tools' | 'decide' | 'toolContextFor'> {
  const { place, chosen, policy, journal, displaced, wait } = options
  const { cwd, home } = place
  const shellEnvironment = shellEnvironmentOf(place, chosen)
  const lineSource = { now: place.now, newId: () => newMessageId(place) }
  const { maxFileBytes } = chosen.settings.snapshots
  const liveness = livenessOf(place)
  return {
    tools: toolsFor(policy.mode),
    decide: async ({ name, input }) => {
      const decision = await decideCall({ name, input }, { cwd, home, policy })
      if (decision.type === 'ask') return { ...decision, destructive: false }
      const asks = chosen.confirmDestructive && policy.mode === 'full-access' && decision.type === 'allow'
      if (!asks || !(await isDestructiveCall({ name, input }, { cwd, home }))) return decision
      return { type: 'ask', reason: `the call may delete or overwrite something`, destructive: true }
    },
    toolContextFor: (call, messageId) => ({
      cwd,
      home,
      policy,
      shellEnvironment,
      edits: makeEditSink({
        ...lineSource,
        journal,
        attribution: {
          ...attributionOf(options),
          message_id: messageId,
          tool_call_id: call.id,
          tool_name: call.name,
        },
        settings: chosen.settings.snapshots,
        newFileMode: 0o666 & ~process.umask(),
        wait,
        liveness,
        displaced,
      }),
      holdWorkspace: async () => {
        await displaced.look()
        const hold = await holdWhole({ home: place.root, key: journal.place.workspace.key }, wait)
        try {
          const family = new Set(familyOf(place.root, options.conversation))
          const attribution = attributionOf(options)
          await observeTracked({
            ...lineSource,
            ...liveness,
            journal,
            displaced,
            family,
            attribution,
            maxFileBytes,
            wait: null,
          })
        } catch (error) {
          await hold.release()
          throw error
        }
        return () => hold.release()
      },
    }),
  }
}

/** Whose turn a journal line belongs to. */
export function attributionOf({ conversation, writer, turn, log }: TurnToolsOptions): Attribution {
  return { writer, chat_id: log.chatId, conversation, turn }
}

/** The user's environment, without the keys of providers unless the settings keep them. */
function shellEnvironmentOf(place: Place, { settings, keyVariables }: ChosenModel): Record<string, string> {
  const withheld = new Set(settings.shellEnvironment.keepProviderKeys ? [] : keyVariables)
  const kept = Object.entries(place.env).flatMap(([name, value]) =>
    value === undefined || withheld.has(name) ? [] : [[name, value] as const],
  )
  return Object.fromEntries(kept)
}

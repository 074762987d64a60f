import type { TurnEvent } from '../agent/events.ts'
import type { ForeignBytes } from '../edits/displaced.ts'
import type { TurnNotice } from './turnLog.ts'

/** What the user hears of bytes that another program wrote into a file that was being changed. */
export function noticeOf(bytes: ForeignBytes): TurnNotice {
  const written = `another program wrote to '${bytes.path}' while it was being changed`
  return bytes.type === 'kept'
    ? {
        code: 'foreign_bytes_kept',
        text: `${written}; what it wrote is kept as snapshot ${bytes.sha256}`,
        chat_id: null,
      }
    : {
        code: 'foreign_bytes_lost',
        text: `${written}, and what it wrote could not be kept: ${bytes.reason}`,
        chat_id: null,
      }
}

/** What the user hears when the entry of the model in models.json is not used. */
export function strayNotice(model: string, provider: string): TurnNotice {
  return {
    code: 'model_provider_unknown',
    text: `models.json gives '${model}' to the provider '${provider}', which is not in providers.json, so its entry is not used`,
    chat_id: null,
  }
}

/** Notices that come up before the turn has told that it started are told directly after. */
export function makeNotices(emit: (event: TurnEvent) => void) {
  let waiting: TurnNotice[] | null = []
  return {
    tell: (notice: TurnNotice) => {
      if (waiting === null) emit({ type: 'notice', ...notice })
      else waiting.push(notice)
    },
    flush: () => {
      for (const notice of waiting ?? []) emit({ type: 'notice', ...notice })
      waiting = null
    },
  }
}

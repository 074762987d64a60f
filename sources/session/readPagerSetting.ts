import { inspectConfigFiles } from '../config/files.ts'
import type { Place } from './place.ts'

/** The setting `pager`: a command, false for none, null when nothing is set. A broken file sets nothing. */
export async function readPagerSetting(place: Place): Promise<string | false | null> {
  const { settings } = await inspectConfigFiles(place.root)
  return settings.value.pager
}

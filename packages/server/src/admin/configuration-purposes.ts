/** The steps for the purposes of a configuration file. */
import { checkPurpose, putPurpose, removePurpose } from '../store/directory/purposes.ts'
import type { Configuration } from './configuration-file.ts'
import type { Stored } from './configuration-read.ts'
import { about, type Step } from './configuration-steps.ts'

export interface PlannedPurposes {
  /** Before grants are changed, which name them. */
  readonly added: readonly Step[]
  /** After grants are changed, which named them. */
  readonly removed: readonly Step[]
  /** Those that there will be. */
  readonly codes: ReadonlySet<string>
}

/** @throws AdminRefusal a code or a text of the wrong form */
export async function planPurposes(
  { purposes: wanted }: Configuration,
  { purposes: stored }: Pick<Stored, 'purposes'>,
): Promise<PlannedPurposes> {
  if (wanted === undefined) {
    return { added: [], removed: [], codes: new Set(stored.map(({ code }) => code)) }
  }
  const added: Step[] = []
  for (const [code, entry] of Object.entries(wanted)) {
    const at = ['purposes', code]
    const purpose = { code, text: entry.text ?? null }
    await about(at, async () => checkPurpose(purpose))
    const found = stored.find((row) => row.code === code)
    if (found !== undefined && found.text === purpose.text) continue
    added.push({
      at,
      change: found === undefined ? 'add' : 'change',
      from: found === undefined ? null : { text: found.text },
      to: { text: purpose.text },
      make: ({ db }) => putPurpose(db, purpose),
    })
  }
  const gone = stored.filter(({ code }) => !Object.hasOwn(wanted, code))
  const removed = gone.map(({ code, text }): Step => {
    const make: Step['make'] = ({ db }) => removePurpose(db, code)
    return { at: ['purposes', code], change: 'remove', from: { text }, to: null, make }
  })
  return { added, removed, codes: new Set(Object.keys(wanted)) }
}

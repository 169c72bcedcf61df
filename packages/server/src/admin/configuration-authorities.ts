/** The steps for the consent authorities of a configuration file. */
import { checkAuthorityName } from '../store/consents/authorities.ts'
import type { Configuration } from './configuration-file.ts'
import { authorityEntry, type Stored } from './configuration-read.ts'
import { about, isSame, type Step } from './configuration-steps.ts'
import { addConsentAuthority, checkAuthority, keysOf, removeConsentAuthority } from './consent-authorities.ts'

export interface PlannedAuthorities {
  /** Before grants are changed, which name them. */
  readonly added: readonly Step[]
  /** After grants are changed. */
  readonly removed: readonly Step[]
  /** Names of those that there will be. */
  readonly names: ReadonlySet<string>
}

/** @throws AdminRefusal a key or an address that cannot be used */
export async function planAuthorities(
  { consent_authorities: wanted }: Configuration,
  { authorities: stored }: Pick<Stored, 'authorities'>,
): Promise<PlannedAuthorities> {
  if (wanted === undefined) return { added: [], removed: [], names: new Set(stored.map(({ name }) => name)) }
  const added: Step[] = []
  for (const [name, entry] of Object.entries(wanted)) {
    const at = ['consent_authorities', name]
    const found = stored.find((row) => row.name === name)
    const after = await about(at, async () => {
      checkAuthorityName(name)
      const keys = entry.keys === undefined ? (found?.keys ?? []) : await keysOf(name, entry.keys)
      const outgoing = entry.hosts ?? found?.outgoing ?? []
      return { name, jwks_uri: entry.jwks_uri ?? null, outgoing, keys }
    })
    const [from, to] = [found === undefined ? null : authorityEntry(found), authorityEntry(after)]
    if (isSame(from, to)) continue
    await about(at, () => checkAuthority(after))
    added.push({
      ...{ at, change: found === undefined ? 'add' : 'change', from, to },
      make: ({ db }) => addConsentAuthority({ db }, { name, ...to }),
    })
  }
  const gone = stored.filter(({ name }) => !Object.hasOwn(wanted, name))
  const removed = gone.map((row): Step => {
    const make: Step['make'] = ({ db }) => removeConsentAuthority({ db }, { name: row.name })
    return {
      at: ['consent_authorities', row.name],
      change: 'remove',
      from: authorityEntry(row),
      to: null,
      make,
    }
  })
  return { added, removed, names: new Set(Object.keys(wanted)) }
}

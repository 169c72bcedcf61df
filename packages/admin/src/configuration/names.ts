/** Steps for the members `purposes` and `consent_authorities` of a configuration file. Grants name purposes and authorities. */

import { isSameJson } from '../approvals/diff-lines.ts'
import type { Configuration } from './file.ts'
import { type ConfigStep, type StepDeps, withRefusalsAt } from './steps.ts'

export interface PurposeOrAuthorityPlan {
  /** The steps that add or change names: they come before the grants that name them. */
  readonly added: readonly ConfigStep[]
  /** The steps that remove names: they come after the grants that named them. */
  readonly removed: readonly ConfigStep[]
  /** The names of all purposes, or of all consent authorities, that exist after the file is applied. */
  readonly names: ReadonlySet<string>
}

/** How the entries of `purposes` or of `consent_authorities` in the file are read, checked and stored. */
interface PurposeOrAuthorityHandler<Row, Entry, Shown> {
  readonly member: keyof Configuration
  /** The first words of the acts that add and remove a row by hand, such as `purpose`. */
  readonly words: string
  readonly nameOf: (row: Row) => string
  /** Returns a row in the form that a configuration file gives it. */
  readonly shown: (row: Row) => Shown
  /**
   * Returns the row for an entry of the file.
   * @param found the stored row
   * @throws a refusal: the form of the entry is wrong
   */
  readonly rowOf: (name: string, entry: Entry, found: Row | undefined) => Promise<Row>
  /** Checks a row that is added or changed; rows that stay are not checked. */
  readonly check?: (row: Row) => Promise<void>
  readonly put: (deps: StepDeps, row: Row) => Promise<unknown>
  readonly remove: (deps: StepDeps, name: string) => Promise<unknown>
}

/**
 * Plans the steps for the entries of one member, such as `purposes`.
 * @param wanted undefined: the file does not have the member, and all stored entries stay
 * @throws AdminRefusal `rowOf` or `check` refuses an entry; the refusal has the place of the entry in the file
 */
export async function planPurposesOrAuthorities<Row, Entry, Shown>(
  { member, words, nameOf, shown, rowOf, check, put, remove }: PurposeOrAuthorityHandler<Row, Entry, Shown>,
  wanted: Readonly<Record<string, Entry>> | undefined,
  stored: readonly NoInfer<Row>[],
): Promise<PurposeOrAuthorityPlan> {
  if (wanted === undefined) return { added: [], removed: [], names: new Set(stored.map(nameOf)) }
  const added: ConfigStep[] = []
  for (const [name, entry] of Object.entries(wanted)) {
    const at = [member, name]
    const found = stored.find((row) => nameOf(row) === name)
    const row = await withRefusalsAt(at, () => rowOf(name, entry, found))
    const [from, to] = [found === undefined ? null : shown(found), shown(row)]
    if (isSameJson(from, to)) continue
    if (check !== undefined) await withRefusalsAt(at, () => check(row))
    const change = found === undefined ? 'add' : 'change'
    added.push({ at, change, from, to, act: `${words} add`, make: (deps) => put(deps, row) })
  }
  const gone = stored.filter((row) => !Object.hasOwn(wanted, nameOf(row)))
  const removed = gone.map((row): ConfigStep => {
    const name = nameOf(row)
    return {
      at: [member, name],
      change: 'remove',
      from: shown(row),
      to: null,
      act: `${words} remove`,
      make: (deps) => remove(deps, name),
    }
  })
  return { added, removed, names: new Set(Object.keys(wanted)) }
}

/** Reads the fields of a form as members of a call. Most readers return undefined for an empty field, to send no member. */
import { ApiFault } from '../api/fault.ts'
import { COMMON } from '../texts/common.ts'
import { isoTimeOf } from './filters.ts'

export class FormValues {
  readonly #given: FormData

  constructor(given: FormData) {
    this.#given = given
  }

  text(name: string): string | undefined {
    return String(this.#given.get(name) ?? '').trim() || undefined
  }

  /** Returns null for an empty field, so that the call removes the stored value. */
  textOrNull(name: string): string | null {
    return this.text(name) ?? null
  }

  /** Reads a number; undefined for an empty field. @throws ApiFault for another text */
  number(name: string): number | undefined {
    const text = this.text(name)
    if (text === undefined) return undefined
    // JSON would write NaN as null, which removes the stored limit.
    if (!Number.isFinite(Number(text))) throw new ApiFault(400, [{ code: 'number', message: COMMON.noNumber(text) }])
    return Number(text)
  }

  /** Reads a number or "unlimited"; null for an empty field: the server's limit applies. */
  limit(name: string): number | 'unlimited' | null {
    return this.text(name) === 'unlimited' ? 'unlimited' : (this.number(name) ?? null)
  }

  /** Returns the lines of a text field that are not empty. */
  lines(name: string): string[] {
    return (this.text(name) ?? '')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  }

  /** Returns the names of the ticked boxes of a group. */
  ticked(name: string): string[] {
    return this.#given.getAll(name).map(String)
  }

  /** Reads a JSON object. @throws ApiFault for another text */
  object(name: string): Record<string, unknown> {
    try {
      const value: unknown = JSON.parse(this.text(name) ?? '')
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        return value as Record<string, unknown>
      }
    } catch {
      // A text that is no JSON gets the fault below.
    }
    throw new ApiFault(400, [{ code: 'json', message: COMMON.noObject }])
  }

  flag(name: string): boolean {
    return this.#given.has(name)
  }

  /** Reads a time in the reader's zone, and returns it in ISO 8601; undefined: the field has none. */
  time(name: string): string | undefined {
    return isoTimeOf(this.text(name) ?? '')
  }

  /** Returns the chosen word; undefined when none of the choices is chosen. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    return choices.find((one) => one === this.text(name))
  }
}

/**
 * Returns the members that the operator has changed since the form was opened. A call with these members alone does not undo what
 * somebody else has changed meanwhile.
 */
export const changedFormMembers = <Members extends object>(
  given: Members,
  shown: { readonly [Name in keyof Members]?: unknown },
): Partial<Members> =>
  Object.fromEntries(
    Object.entries(given).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(shown[name as keyof Members])),
  ) as Partial<Members>

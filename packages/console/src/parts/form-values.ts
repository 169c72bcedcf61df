/** The fields of a form as members of a call: an empty field is an absent member. */
import { ApiFault } from '../api/fault.ts'
import { COMMON } from '../texts/common.ts'
import { isoOf } from './filters.ts'

export class FormValues {
  readonly #given: FormData

  constructor(given: FormData) {
    this.#given = given
  }

  text(name: string): string | undefined {
    return String(this.#given.get(name) ?? '').trim() || undefined
  }

  /** For a field that had a value: an emptied one removes it. */
  textOrNull(name: string): string | null {
    return this.text(name) ?? null
  }

  number(name: string): number | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : Number(text)
  }

  /** A number, "unlimited", or null for an empty field: the server's limit. */
  limit(name: string): number | 'unlimited' | null {
    const text = this.text(name)
    if (text === 'unlimited') return text
    return text === undefined ? null : Number(text)
  }

  /** The non-empty lines. */
  lines(name: string): string[] {
    return (this.text(name) ?? '')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  }

  /** The names of the boxes of a group that are ticked. */
  ticked(name: string): string[] {
    return this.#given.getAll(name).map(String)
  }

  /** The object of a JSON text. @throws ApiFault for another text */
  object(name: string): Record<string, unknown> {
    try {
      const value: unknown = JSON.parse(this.text(name) ?? '')
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        return value as Record<string, unknown>
      }
    } catch {
      // Said below.
    }
    throw new ApiFault(400, [{ code: 'json', message: COMMON.noObject }])
  }

  flag(name: string): boolean {
    return this.#given.has(name)
  }

  /** A time that was written in the reader's zone. */
  time(name: string): string | undefined {
    return isoOf(this.text(name) ?? '')
  }

  /** Undefined where nothing of the list is chosen. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    return choices.find((one) => one === this.text(name))
  }
}

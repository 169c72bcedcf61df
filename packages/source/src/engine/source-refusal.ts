/**
 * A source file, or the database that it names, cannot be used. The message has names of members and rules, never a
 * secret or a value.
 */
import type { PathStep } from '@rollcall/protocol'

export class SourceRefusal extends Error {
  override readonly name = 'SourceRefusal'
  readonly #at: readonly PathStep[]

  /**
   * Makes a refusal.
   * @param at the member of the file that the message is about; empty: the whole file, or its database
   */
  constructor(message: string, at: readonly PathStep[] = []) {
    super(message)
    this.#at = at
  }

  get at(): readonly PathStep[] {
    return this.#at
  }
}

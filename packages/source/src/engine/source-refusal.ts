import { type PathStep, pathText } from '@rollcall/protocol'

/** A source file, or its database, cannot be used. The message never has a secret or a value of a record. */
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

/**
 * Makes the error of a source file that breaks a rule.
 * @param at the path of the member that breaks the rule; empty: the whole file
 * @param rule the words of the message after the path, such as "must have from or select"
 */
export const makeRefusal = (at: readonly PathStep[], rule: string): SourceRefusal =>
  new SourceRefusal(at.length === 0 ? `the source file ${rule}` : `${pathText(at)}: ${rule}`, at)

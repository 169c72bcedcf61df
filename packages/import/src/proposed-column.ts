/** The proposal for a column, made from its name and its values. */

/** The rule for a path in a column mapping: the name of the column, or the column with a date format or codes. */
export type ProposedRule =
  | string
  | { readonly column: string; readonly format: string }
  | { readonly column: string; readonly codes: Readonly<Record<string, string>> }

export interface ProposedColumn {
  readonly column: string
  /** `mapped`: a person should review it. `decide`: a person must choose one of `choices`, or none. */
  readonly state: 'mapped' | 'decide' | 'unmapped'
  readonly path: string | null
  readonly rule: ProposedRule | null
  /** The possible meanings, in the state `decide`. */
  readonly choices: readonly { readonly path: string; readonly rule: ProposedRule; readonly meaning: string }[]
  /** The reasons of the proposal in sentences, without values. */
  readonly reasons: readonly string[]
}

/** Makes a proposal with one path and rule, for review. */
export const proposeMappedColumn = (
  column: string,
  path: string,
  rule: ProposedRule,
  reasons: readonly string[],
): ProposedColumn => ({ column, state: 'mapped', path, rule, choices: [], reasons })

/** Makes a proposal with choices, of which a person must take one, or none. */
export const proposeColumnChoices = (
  column: string,
  reasons: readonly string[],
  choices: ProposedColumn['choices'],
): ProposedColumn => ({ column, state: 'decide', path: null, rule: null, choices, reasons })

/** Makes the proposal to leave a column out. */
export const proposeUnmapped = (column: string, reasons: readonly string[]): ProposedColumn => ({
  column,
  state: 'unmapped',
  path: null,
  rule: null,
  choices: [],
  reasons,
})
